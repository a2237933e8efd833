/* The functions of the compiled kernel that Python calls.

Each opens the arrays that it is given, sees to it that they fit together, and leaves the arithmetic
to `_kernel_step.h`. Arrays come in by the buffer protocol, C-contiguous; results are written into
arrays that the caller has made. Only the stable interface of Python is used, so that one build
serves all versions from 3.11 on. */

#include "_kernel_step.h"

static void free_tables(PyObject *capsule) {
    Tables *tables = PyCapsule_GetPointer(capsule, "lexbeam.tables");
    if (tables == NULL) return;
    close_buffers(&tables->buffers);
    free(tables);
}

/* tables(arrays, symbols, words): keep the tables of an automaton for the functions below; sets of
   bits take so many numbers each, side by side. */
static PyObject *make_tables(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    (void)self;
    if (nargs != 3 || !PyTuple_Check(args[0]) || PyTuple_Size(args[0]) != TABLES) {
        PyErr_SetString(PyExc_TypeError, "tables takes a tuple of arrays and two numbers");
        return NULL;
    }
    Tables *t = calloc(1, sizeof *t);
    if (t == NULL) return PyErr_NoMemory();
    for (int i = 0; i < TABLES; i++) {
        char kind = i == BOUNDARY || i == STARTING ? 'b' : 'i';
        t->table[i] = open_array(&t->buffers, PyTuple_GetItem(args[0], i), kind, 0);
    }
    t->nodes = t->table[ROW_OF_NODE].length;
    int failed = read_size(args[1], &t->symbols) || read_size(args[2], &t->words);
    int fits = t->nodes > 0 && t->words > 0 && t->words <= MOST_WORDS &&
               t->table[SERVES].length == t->nodes * t->words;
    if (failed || refuse_unless(&t->buffers, fits, "tables")) {
        close_buffers(&t->buffers);
        free(t);
        return NULL;
    }
    t->moves = t->table[MOVE_SYMBOLS].length / t->nodes;
    Py_ssize_t rows = 1; /* of what nodes ask for */
    for (Py_ssize_t i = 0; i < t->table[ASK_ROWS].length; i++)
        if (INTS(t->table[ASK_ROWS])[i] >= rows) rows = INTS(t->table[ASK_ROWS])[i] + 1;
    t->asked = t->table[ASK_TOKENS].length / rows;
    t->now = t->table[NOW_WEIGHT].length / t->nodes;
    t->later = t->table[LATER_WEIGHT].length / t->nodes;
    t->begun = t->table[BEGUN_GAIN].length / t->nodes;
    t->stages = t->table[STAGE_SIZES].length - INTS(t->table[FIRST_STAGE])[0]; /* node 0's: last */
    return PyCapsule_New(t, "lexbeam.tables", free_tables);
}

/* Read the tables, NULL if they are None; return whether something else was given. */
static int refuse_tables(PyObject *object, const Tables **tables) {
    *tables = object == Py_None ? NULL : PyCapsule_GetPointer(object, "lexbeam.tables");
    return *tables == NULL && object != Py_None;
}

/* What `ask` reads and writes. */
typedef struct {
    Array live, token, row, node, seen, stages, hold, tokens, parents, ask, targets;
} Asking;

/* Write the listed tokens that start or continue an unmet phrase of a slot, and where they lead;
   return how many there are. */
INLINED Py_ssize_t find_useful(const Tables *t, Py_ssize_t words, const Asking *a, Py_ssize_t slot,
                               int64_t *tokens, int64_t *targets) {
    Py_ssize_t first = INTS(t->table[ASK_ROWS])[INTS(a->node)[slot]] * t->asked, count = 0;
    Py_ssize_t known = t->table[BOUNDARY].length;
    uint64_t unmet[MOST_WORDS];
    for (Py_ssize_t i = 0, at = slot * words; i < words; i++, at++)
        unmet[i] = ~BITS(a->seen)[at] & (a->stages.data ? BITS(a->stages)[at] : ~(uint64_t)0);
    int hold = known && a->hold.data && FLAGS(a->hold)[slot];
    memset(tokens, PAD, t->asked * sizeof *tokens);
    memset(targets, 0, t->asked * sizeof *targets);
    for (Py_ssize_t at = first; at < first + t->asked; at++) {
        int64_t token = INTS(t->table[ASK_TOKENS])[at], target = INTS(t->table[ASK_TARGETS])[at];
        if (!share(SET(t, SERVES, target), unmet, words)) continue;
        if (hold && FLAGS(t->table[BOUNDARY])[token < 0 ? token + known : token]) continue;
        tokens[count] = token;
        targets[count++] = target;
    }
    return count;
}

/* ask(tables, first, live, token, row, node, seen, stages, hold, tokens, parents, ask, targets):
   write what the model is asked at a step: of each live slot its token and row, what is asked
   first, if that is not PAD, the tokens that start or continue an unmet phrase, and where those
   lead. Without `live` the model's rows are known, and nodes are those of rows. Return how many
   rows there are, and how many such tokens each has at most. */
static PyObject *ask(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    (void)self;
    const Tables *t;
    Py_ssize_t first, rows = 0, width = 0;
    if (refuse_count(nargs, 13, "ask") || refuse_tables(args[0], &t) || read_size(args[1], &first))
        return NULL;
    Buffers buffers = NO_BUFFERS;
    Asking a;
    open_all(&buffers, args + 2, "biiiiibIIII",
             ARRAYS(&a.live, &a.token, &a.row, &a.node, &a.seen, &a.stages, &a.hold, &a.tokens,
                    &a.parents, &a.ask, &a.targets));
    Py_ssize_t all = a.live.data ? a.live.length : a.node.length;
    Py_ssize_t listed = t ? t->asked : 0, ends = first != PAD;
    int fits = (!a.live.data || (all_have(all, ARRAYS(&a.token, &a.row)) &&
                                 a.tokens.length >= all && a.parents.length >= all)) &&
               a.ask.length >= all * (ends + listed) && a.targets.length >= all * listed &&
               (!t || (a.node.length == all && a.seen.length == all * t->words &&
                       has_or_none(&a.stages, all * t->words))) &&
               has_or_none(&a.hold, all);
    refuse_unless(&buffers, fits, "ask");
    for (Py_ssize_t slot = 0; slot < all && !buffers.failed; slot++) {
        if (a.live.data && !FLAGS(a.live)[slot]) continue;
        if (a.live.data) {
            INTS(a.tokens)[rows] = INTS(a.token)[slot];
            INTS(a.parents)[rows] = INTS(a.row)[slot];
        }
        int64_t *tokens = INTS(a.ask) + rows * (ends + listed);
        int64_t *targets = INTS(a.targets) + rows++ * listed;
        if (ends) *tokens++ = first;
        Py_ssize_t count = !t                ? 0
                           : t->words == 1 ? find_useful(t, 1, &a, slot, tokens, targets)
                                           : find_useful(t, t->words, &a, slot, tokens, targets);
        if (count > width) width = count;
    }
    for (Py_ssize_t row = 1; row < rows && width < listed; row++) {
        int64_t *tokens = INTS(a.ask), *targets = INTS(a.targets);
        Py_ssize_t from = row * (ends + listed), to = row * (ends + width);
        memmove(tokens + to, tokens + from, (ends + width) * sizeof *tokens);
        memmove(targets + row * width, targets + row * listed, width * sizeof *targets);
    }
    close_buffers(&buffers);
    return buffers.failed ? NULL : Py_BuildValue("nn", rows, width);
}

/* take(tables, eos, tokens, nodes, node, met, met_tokens, seen, seen_tokens, out): let hypotheses
   take tokens, each as many, and write the states that they come to. Without `nodes` it is found
   out where the tokens lead; a token below 0 counts from the end of each table. shape of tokens and
   nodes: (hypotheses, tokens), of out: (columns, hypotheses, tokens), of sets of bits:
   (hypotheses, words), of the others: (hypotheses,). */
static PyObject *take(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    (void)self;
    const Tables *t;
    Py_ssize_t eos;
    if (refuse_count(nargs, 10, "take") || refuse_tables(args[0], &t) || read_size(args[1], &eos))
        return NULL;
    Buffers buffers = NO_BUFFERS;
    Array tokens, nodes, node, met, met_tokens, seen, seen_tokens, out;
    open_all(&buffers, args + 2, "iiiiiiiI",
             ARRAYS(&tokens, &nodes, &node, &met, &met_tokens, &seen, &seen_tokens, &out));
    Py_ssize_t all = tokens.length, rows = node.length, each = rows ? all / rows : 0, known = 0;
    int fits = t && each * rows == all && has_or_none(&nodes, all) &&
               out.length >= COLUMNS(t->words) * all &&
               all_have(rows * t->words, ARRAYS(&met, &seen)) &&
               all_have(rows, ARRAYS(&met_tokens, &seen_tokens));
    refuse_unless(&buffers, fits, "take");
    if (t) known = t->table[BOUNDARY].length ? t->table[BOUNDARY].length : t->table[STARTING].length;
    for (Py_ssize_t i = 0; i < all && !buffers.failed; i++) {
        Py_ssize_t row = i / each;
        int64_t token = INTS(tokens)[i], symbol = token < 0 ? token + t->table[SYMBOL].length : token;
        State from = {BITS(met) + row * t->words, BITS(seen) + row * t->words,
                      INTS(met_tokens)[row], INTS(seen_tokens)[row]};
        int64_t to = nodes.data ? INTS(nodes)[i] : follow(t, INTS(node)[row], symbol);
        int is_end = token == eos;
        if (token < 0) token += known;
        if (t->words == 1) take_token(t, 1, from, token, to, is_end, INTS(out) + i, all);
        else take_token(t, t->words, from, token, to, is_end, INTS(out) + i, all);
    }
    close_buffers(&buffers);
    if (buffers.failed) return NULL;
    Py_RETURN_NONE;
}

/* fewest_steps(following, closed, done, never, need): write how many moves lead from each state to
   one that is done, `never` if there is no way, and look at each move once. shape of following and
   closed: (states, moves), of done and need: (states,). */
static PyObject *fewest_steps(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    (void)self;
    Py_ssize_t never;
    if (refuse_count(nargs, 5, "fewest_steps") || read_size(args[3], &never)) return NULL;
    Buffers buffers = NO_BUFFERS;
    Array following, closed, done, need;
    open_all(&buffers, args, "ibb", ARRAYS(&following, &closed, &done));
    open_all(&buffers, args + 4, "I", ARRAYS(&need));
    Py_ssize_t states = done.length, all = following.length, moves = states ? all / states : 0;
    int fits = moves * states == all && closed.length == all && need.length == states;
    for (Py_ssize_t i = 0; i < all && fits && !buffers.failed; i++)
        fits = FLAGS(closed)[i] || (INTS(following)[i] >= 0 && INTS(following)[i] < states);
    refuse_unless(&buffers, fits, "fewest_steps");
    Py_ssize_t *ends = take_room(&buffers, states + 1, sizeof *ends); /* of what leads to each */
    Py_ssize_t *before = take_room(&buffers, all + 1, sizeof *before);
    Py_ssize_t *queue = take_room(&buffers, states + 1, sizeof *queue), first = 0, last = 0;
    if (!buffers.failed) {
        memset(ends, 0, (states + 1) * sizeof *ends);
        for (Py_ssize_t i = 0; i < all; i++)
            if (!FLAGS(closed)[i]) ends[INTS(following)[i] + 1]++;
        for (Py_ssize_t i = 0; i < states; i++) ends[i + 1] += ends[i];
        for (Py_ssize_t i = 0; i < all; i++) /* then ends[i] is where those of i end */
            if (!FLAGS(closed)[i]) before[ends[INTS(following)[i]]++] = i / moves;
        for (Py_ssize_t i = 0; i < states; i++) {
            INTS(need)[i] = FLAGS(done)[i] ? 0 : never;
            if (FLAGS(done)[i]) queue[last++] = i;
        }
    }
    for (; first < last; first++) {
        Py_ssize_t here = queue[first];
        for (Py_ssize_t i = here ? ends[here - 1] : 0; i < ends[here]; i++) {
            if (INTS(need)[before[i]] != never) continue;
            INTS(need)[before[i]] = INTS(need)[here] + 1;
            queue[last++] = before[i];
        }
    }
    close_buffers(&buffers);
    if (buffers.failed) return NULL;
    Py_RETURN_NONE;
}

/* select(bank, score, slots, sentences, k, handicap, indices, taken): fill the beams. With `slots`,
   those of each bank before adjustment, their best take them; without, the k best of all after each
   has been set back by its rank in its bank. Return the widest beam. shape of bank and score:
   (sentences, candidates), of slots: (sentences, banks), of the others: room for all beams. */
static PyObject *select_beams(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    (void)self;
    Py_ssize_t sentences, widest = 0;
    Selecting s = {.bank = NULL};
    if (refuse_count(nargs, 8, "select") || read_size(args[3], &sentences) ||
        read_size(args[4], &s.k) || read_double(args[5], &s.handicap))
        return NULL;
    Buffers buffers = NO_BUFFERS;
    Array bank, score, slots, indices, taken;
    open_all(&buffers, args, "idi", ARRAYS(&bank, &score, &slots));
    open_all(&buffers, args + 6, "IB", ARRAYS(&indices, &taken));
    Py_ssize_t width = sentences > 0 ? bank.length / sentences : 0;
    int fits = sentences > 0 && s.k > 0 && all_have(width * sentences, ARRAYS(&bank, &score));
    refuse_unless(&buffers, fits, "select");
    Py_ssize_t *ends = take_room(&buffers, sentences, sizeof *ends);
    Py_ssize_t *filled = take_room(&buffers, sentences, sizeof *filled);
    Py_ssize_t *chosen = take_room(&buffers, bank.length, sizeof *chosen);
    for (Py_ssize_t i = 0; i <= sentences && !buffers.failed; i++) ends[i] = i * width;
    if (!buffers.failed)
        fill_beams(&buffers, &s, INTS(bank), DOUBLES(score), &slots, ends, sentences, filled,
                   chosen);
    for (Py_ssize_t i = 0; i < sentences && !buffers.failed; i++)
        if (filled[i] > widest) widest = filled[i];
    fits = indices.length >= widest * sentences && taken.length >= widest * sentences;
    refuse_unless(&buffers, fits, "select");
    for (Py_ssize_t i = 0; i < widest * sentences && !buffers.failed; i++) {
        Py_ssize_t sentence = i / widest, rank_in = i % widest;
        FLAGS(taken)[i] = rank_in < filled[sentence];
        INTS(indices)[i] = FLAGS(taken)[i] ? chosen[sentence * width + rank_in] : 0;
    }
    close_buffers(&buffers);
    return buffers.failed ? NULL : PyLong_FromSsize_t(widest);
}

/* is_sound(top_scores, top_ids, ask_scores, rows, eos, vocabulary, rounding): return whether the
   answer of a model is what the protocol says; what is wrong with it, the caller finds out. */
static PyObject *is_sound(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    (void)self;
    Py_ssize_t rows, eos, vocabulary;
    double rounding;
    if (refuse_count(nargs, 7, "is_sound") || read_size(args[3], &rows) ||
        read_size(args[4], &eos) || read_size(args[5], &vocabulary) ||
        read_double(args[6], &rounding))
        return NULL;
    Buffers buffers = NO_BUFFERS;
    Array scores, ids, asked;
    open_all(&buffers, args, "sis", ARRAYS(&scores, &ids, &asked));
    int sound = !buffers.failed &&
                is_answer_sound(&scores, &ids, &asked, rows, eos, vocabulary, rounding);
    close_buffers(&buffers);
    return buffers.failed ? NULL : PyBool_FromLong(sound);
}

/* Open the arrays of a step, and refuse them if they don't fit together. */
static int open_step(Buffers *buffers, PyObject *const *args, Step *x) {
    Array numbers = open_array(buffers, args[0], 'd', 0);
    for (int i = 0; i < STEP_ARRAYS; i++) {
        int writable = KINDS_OF_ARRAYS[i] < 'a';
        char kind = (char)(writable ? KINDS_OF_ARRAYS[i] - 'A' + 'a' : KINDS_OF_ARRAYS[i]);
        x->a[i] = open_array(buffers, args[1 + i], kind, writable);
    }
    Py_ssize_t all = x->a[LOG_PROB].length;
    x->sentences = x->a[FIRST].length;
    int fits = x->sentences > 0 && numbers.length == NUMBERS && x->a[LIVE].length == all &&
               x->a[TOP_SCORES].length == x->a[TOP_IDS].length;
    if (refuse_unless(buffers, fits, "advance")) return -1;
    x->number = DOUBLES(numbers);
    x->k = (Py_ssize_t)x->number[K];
    x->flags = (Py_ssize_t)x->number[FLAGS_OF_STEP];
    x->slots = all / x->sentences;
    x->row = take_room(buffers, all, sizeof *x->row);
    for (Py_ssize_t slot = 0; slot < all && !buffers->failed; slot++)
        x->row[slot] = FLAG(x, LIVE, slot) ? x->rows++ : 0;
    x->top = x->rows ? x->a[TOP_IDS].length / x->rows : 0;
    x->answers = x->rows ? x->a[ASK_SCORES].length / x->rows : 1;
    x->asked = x->t ? x->answers - 1 : 0;
    x->stride = x->rows ? x->a[ASKED].length / x->rows : 0;
    x->parts = x->a[PART_SIZES].length / x->sentences;
    x->begun = x->t ? x->a[MISSING].length / x->t->nodes : 0;
    Py_ssize_t nodes = x->t ? x->t->nodes : 0, lengths[DIMENSIONS] = {
        [SENTENCE] = x->sentences, [SLOT] = all, [ROW] = x->rows, [TOP] = x->rows * x->top,
        [ANSWER] = x->rows * x->answers, [ASK] = x->rows * x->asked, [MEAN] = 2 * x->sentences,
        [PART] = x->parts * x->sentences, [AT_NODE] = nodes, [BEGUN] = nodes * x->begun,
    };
    for (int i = 0; i < STEP_ARRAYS; i++) {
        int needed = i < NODE || (x->t && i < SUMS) || (x->t && x->a[SUMS].data);
        if (!x->a[i].data && memchr(OPTIONAL_ARRAYS, i, sizeof OPTIONAL_ARRAYS)) continue;
        int of_bits = x->t && memchr(ARRAYS_OF_BITS, i, sizeof ARRAYS_OF_BITS);
        Py_ssize_t least = lengths[DIMENSION_OF_ARRAYS[i]] * (of_bits ? x->t->words : 1);
        fits = fits && (!needed || x->a[i].length >= least);
    }
    for (Py_ssize_t i = 0; x->a[BEAMS].data && i < x->sentences; i++)
        fits = fits && INT(x, BEAMS, i) > 0 && INT(x, BEAMS, i) <= x->k;
    fits = fits && x->k > 0 && x->answers > 0 && x->slots * x->sentences == all &&
           (!x->asked || x->stride >= x->asked) && (!x->a[SIZES].data || x->a[BANK].data);
    return refuse_unless(buffers, fits, "advance") ? -1 : 0;
}

static void take_rooms(Buffers *buffers, Step *x) {
    Py_ssize_t sentences = x->sentences, parts = x->parts;
    Py_ssize_t most = sentences * (x->t ? x->k + x->slots * (2 + x->asked) : x->k);
    x->best = take_room(buffers, x->k, sizeof *x->best);
    x->among = take_room(buffers, x->slots * (1 + x->top), 1);
    x->found = take_room(buffers, most, sizeof *x->found);
    x->ends = take_room(buffers, sentences, sizeof *x->ends);
    x->filled = take_room(buffers, sentences, sizeof *x->filled);
    x->chosen = take_room(buffers, most, sizeof *x->chosen);
    if (!x->t) return;
    x->states = take_room(buffers, COLUMNS(x->t->words) * most, sizeof *x->states);
    x->worth = take_room(buffers, most, sizeof *x->worth);
    x->compared = take_room(buffers, most, sizeof *x->compared);
    x->unit = take_room(buffers, sentences, sizeof *x->unit);
    x->after = take_room(buffers, sentences, sizeof *x->after);
    x->learnt = take_room(buffers, 4 * sentences, sizeof *x->learnt);
    x->own = take_room(buffers, parts, sizeof *x->own);
    x->costs = take_room(buffers, parts, sizeof *x->costs);
    x->by_soft = take_room(buffers, 1 + x->a[PENALTIES].length / sentences, sizeof *x->by_soft);
    x->whole = take_room(buffers, parts * sentences, sizeof *x->whole);
}

/* advance(tables, numbers, arrays…): take a step from the model's answer to the new beams. What is
   given is said in `_kernel_step.h`; without tables it is a step of plain search, without slots of
   banks candidates are set back by the handicap, without sums nothing is expected of what is unmet.
   Written are token, parent and row; the states; log_prob, score and worth; finished, live and what
   has just ended. If all candidates are kept, they are written instead, and what they have still to
   pay in place of their worth. Return the width of the beams, whether anything has just ended, and
   whether every sentence goes on; None if the model's answer is not what the protocol says. */
static PyObject *advance(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    (void)self;
    Step x;
    memset(&x, 0, sizeof x);
    if (refuse_count(nargs, 2 + STEP_ARRAYS, "advance") || refuse_tables(args[0], &x.t))
        return NULL;
    Buffers buffers = NO_BUFFERS;
    Py_ssize_t width = 1;
    int newly = 0, all_live = 1, sound = 1;
    if (open_step(&buffers, args + 1, &x)) goto done;
    sound = (x.flags & KEEP_ALL) ||
            is_answer_sound(&x.a[TOP_SCORES], &x.a[TOP_IDS], &x.a[ASK_SCORES], x.rows,
                            x.number[EOS], x.number[VOCABULARY], x.number[ROUNDING]);
    take_rooms(&buffers, &x);
    if (buffers.failed || !sound) goto done;
    find_candidates(&x);
    if (x.t) weigh(&x);
    if (x.t && !(x.flags & KEEP_ALL)) {
        Selecting selecting = {.k = x.k, .handicap = x.number[HANDICAP]};
        const int64_t *bank = x.states + BANK_COLUMN(x.t->words) * x.ends[x.sentences];
        fill_beams(&buffers, &selecting, bank, x.compared, &x.a[SLOTS], x.ends, x.sentences,
                   x.filled, x.chosen);
    }
    for (Py_ssize_t s = 0; s < x.sentences; s++)
        if (x.filled[s] > width) width = x.filled[s];
    Py_ssize_t size = x.sentences * width;
    int fits = x.a[OUT_INTS].length >= 3 * size && x.a[OUT_SCORES].length >= 3 * size &&
               x.a[OUT_FLAGS].length >= 3 * size &&
               (!x.t || x.a[OUT_STATES].length >= COLUMNS(x.t->words) * size);
    if (refuse_unless(&buffers, fits, "advance")) goto done;
    newly = write_beams(&x, width);
    if ((x.flags & DROP) && !newly) drop(&buffers, &x, width);
    for (Py_ssize_t at = size; at < 2 * size; at += width)
        all_live = all_live && memchr(FLAGS(x.a[OUT_FLAGS]) + at, 1, width);
done:
    close_buffers(&buffers);
    if (buffers.failed) return NULL;
    if (!sound) Py_RETURN_NONE;
    return Py_BuildValue("nii", width, newly, all_live);
}

static PyMethodDef functions[] = {
    FUNCTION("tables", make_tables),
    FUNCTION("ask", ask),
    FUNCTION("take", take),
    FUNCTION("fewest_steps", fewest_steps),
    FUNCTION("select", select_beams),
    FUNCTION("is_sound", is_sound),
    FUNCTION("advance", advance),
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_kernel", NULL, -1, functions,
                                    NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__kernel(void) {
    PyObject *created = PyModule_Create(&module);
    if (created == NULL || add_checksum(created)) {
        Py_XDECREF(created);
        return NULL;
    }
    return created;
}
