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

/* tables(arrays, symbols): keep the tables of an automaton for the functions below. */
static PyObject *make_tables(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    (void)self;
    Py_ssize_t symbols;
    if (nargs != 2 || !PyTuple_Check(args[0]) || PyTuple_Size(args[0]) != TABLES) {
        PyErr_SetString(PyExc_TypeError, "tables takes a tuple of arrays and a number");
        return NULL;
    }
    if (read_size(args[1], &symbols)) return NULL;
    Tables *tables = calloc(1, sizeof *tables);
    if (tables == NULL) return PyErr_NoMemory();
    for (int i = 0; i < TABLES; i++) {
        PyObject *array = PyTuple_GetItem(args[0], i);
        tables->table[i] = open_array(&tables->buffers, array, i == BOUNDARY ? 'b' : 'i', 0);
    }
    Py_ssize_t nodes = tables->table[ROW_OF_NODE].length;
    if (refuse_unless(&tables->buffers, nodes > 0, "tables")) {
        close_buffers(&tables->buffers);
        free(tables);
        return NULL;
    }
    tables->symbols = symbols;
    tables->nodes = nodes;
    tables->moves = tables->table[MOVE_SYMBOLS].length / nodes;
    tables->asked = tables->table[ASK_TOKENS].length / nodes;
    tables->now = tables->table[NOW_SETS].length / nodes;
    tables->later = tables->table[LATER_SETS].length / nodes;
    tables->begun = tables->table[BEGUN_GAIN].length / nodes;
    return PyCapsule_New(tables, "lexbeam.tables", free_tables);
}

static Tables *read_tables(PyObject *capsule) {
    return PyCapsule_GetPointer(capsule, "lexbeam.tables");
}

/* ask(tables, node, seen, stages, hold, tokens, targets): write the tokens that start or continue
   an unmet phrase, and where they lead, side by side; return how many each hypothesis has at most.
   `tokens` and `targets` have room for all that is listed. */
static PyObject *ask(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    (void)self;
    const Tables *t;
    if (refuse_count(nargs, 7, "ask") || !(t = read_tables(args[0]))) return NULL;
    Buffers buffers = NO_BUFFERS;
    Array node, seen, stages, hold, tokens, targets;
    open_all(&buffers, args + 1, "iiibII", ARRAYS(&node, &seen, &stages, &hold, &tokens, &targets));
    Py_ssize_t rows = node.length, room = rows * t->asked, width = 0;
    int fits = seen.length == rows && tokens.length >= room && targets.length >= room &&
               has_or_none(&stages, rows) && has_or_none(&hold, rows);
    refuse_unless(&buffers, fits, "ask");
    unsigned char *useful = take_room(&buffers, room, 1);
    if (!buffers.failed) {
        Asking asking = {NULL, INTS(node), BITS(seen), BITS(stages), FLAGS(hold)};
        width = find_useful(t, &asking, rows, useful);
        write_useful(t, &asking, rows, width, useful, INTS(tokens), width, INTS(targets));
    }
    close_buffers(&buffers);
    return buffers.failed ? NULL : PyLong_FromSsize_t(width);
}

/* Open all but `may_end` and `row`. */
static int open_answers(Buffers *buffers, PyObject *const *args, Proposals *p) {
    open_all(buffers, args, "ddbbisis",
             ARRAYS(&p->log_prob, &p->score, &p->live, &p->finished, &p->first, &p->top_scores,
                    &p->top_ids, &p->ask_scores));
    p->lowest = CLOSED;
    if (buffers->failed) return -1;
    Py_ssize_t all = p->log_prob.length;
    p->sentences = p->first.length;
    p->slots = p->sentences ? all / p->sentences : 0;
    p->rows = 0;
    for (Py_ssize_t slot = 0; slot < all && slot < p->live.length; slot++)
        p->rows += FLAGS(p->live)[slot] != 0;
    p->top = p->rows ? p->top_scores.length / p->rows : 0;
    p->answers = p->rows ? p->ask_scores.length / p->rows : 1;
    int fits = p->sentences > 0 && p->slots * p->sentences == all &&
               all_have(all, ARRAYS(&p->score, &p->live, &p->finished)) &&
               all_have(p->rows * p->top, ARRAYS(&p->top_scores, &p->top_ids)) &&
               p->ask_scores.length == p->rows * p->answers && p->answers > 0;
    return refuse_unless(buffers, fits, "proposals") ? -1 : 0;
}

/* Write the model's row of each slot. */
static void number_rows(Proposals *p) {
    int64_t row = 0;
    for (Py_ssize_t slot = 0; slot < p->log_prob.length; slot++)
        INTS(p->row)[slot] = FLAGS(p->live)[slot] ? row++ : 0;
}

static int open_proposals(Buffers *buffers, PyObject *const *args, Proposals *p) {
    if (open_answers(buffers, args, p)) return -1;
    open_all(buffers, args + 8, "bI", ARRAYS(&p->may_end, &p->row));
    int fits = p->row.length == p->log_prob.length && has_or_none(&p->may_end, p->rows);
    if (refuse_unless(buffers, fits, "proposals")) return -1;
    number_rows(p);
    return 0;
}

/* Open what a step knows of constraints: tables, k, where the slots stand, what was asked. */
static int open_collector(Buffers *buffers, PyObject *const *args, Collector *c, Standing *s,
                          const Proposals *p) {
    Array tokens;
    open_all(buffers, args, "iiiiiiii",
             ARRAYS(&s->node, &s->met, &s->met_tokens, &s->seen, &s->seen_tokens, &s->stages, &tokens,
                    &c->targets));
    c->tokens = INTS(tokens);
    c->asked = c->stride = c->t && p->rows ? tokens.length / p->rows : 0;
    Py_ssize_t all = p->log_prob.length;
    int fits = !c->t || (all_have(all, ARRAYS(&s->node, &s->met, &s->met_tokens, &s->seen,
                                              &s->seen_tokens)) &&
                         has_or_none(&s->stages, all) && c->targets.length == tokens.length &&
                         tokens.length == p->rows * c->asked && p->answers == 1 + c->asked);
    return refuse_unless(buffers, fits, "collect") ? -1 : 0;
}

/* collect(tables, k, flags, proposals…, states…, tokens, targets, score, out, sizes): write the
   candidates of every sentence; without tables, those of plain search. k is the largest beam,
   `sizes` the beam of each sentence, none if it is k for all. Rows of `out` are slot, token, node, and, if 1 is among the
   flags, the state that each leads to: met, met_tokens, seen, seen_tokens, bank. With 2 the best
   ends of words are candidates. Return how many the sentences have
   at most, at least 1, or minus that number if there is too little room. */
static PyObject *collect(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    (void)self;
    const Tables *t = NULL;
    Collector c = {.t = NULL};
    Py_ssize_t flags;
    if (refuse_count(nargs, 24, "collect") || (args[0] != Py_None && !(t = read_tables(args[0]))) ||
        read_size(args[1], &c.k) || read_size(args[2], &flags))
        return NULL;
    c.t = t;
    c.word_ends = (flags & 2) && t && t->table[BOUNDARY].length;
    Buffers buffers = NO_BUFFERS;
    Proposals p;
    Standing s;
    c.p = &p;
    c.s = &s;
    Py_ssize_t width = 1;
    if (open_proposals(&buffers, args + 3, &p) || open_collector(&buffers, args + 13, &c, &s, &p))
        goto done;
    Array score, out;
    open_all(&buffers, args + 21, "DIi", ARRAYS(&score, &out, &c.sizes));
    Py_ssize_t room = score.length, most = c.k + p.slots * (2 + c.asked);
    int fits = c.k > 0 && out.length == 8 * room && has_or_none(&c.sizes, p.sentences);
    for (Py_ssize_t i = 0; fits && !buffers.failed && c.sizes.data && i < p.sentences; i++)
        fits = INTS(c.sizes)[i] > 0 && INTS(c.sizes)[i] <= c.k;
    if (refuse_unless(&buffers, fits, "collect")) goto done;
    Candidate *found = take_room(&buffers, p.sentences * most, sizeof *found);
    Py_ssize_t *ends = take_room(&buffers, p.sentences, sizeof *ends);
    c.best = take_room(&buffers, c.k, sizeof *c.best);
    c.among = take_room(&buffers, p.slots * (1 + p.top), 1);
    if (buffers.failed) goto done;
    ends[0] = 0;
    for (Py_ssize_t i = 0; i < p.sentences; i++) {
        Py_ssize_t count = collect_one(&c, i, found + ends[i]);
        ends[i + 1] = ends[i] + count;
        if (count > width) width = count;
    }
    if (width * p.sentences > room) {
        width = -width;
        goto done;
    }
    for (Py_ssize_t i = 0; i < p.sentences; i++) {
        for (Py_ssize_t rank = 0; rank < width; rank++) {
            Py_ssize_t slot = i * p.slots, to = i * width + rank;
            Candidate none = {CLOSED, slot, INTS(p.first)[i], t ? INTS(s.node)[slot] : 0};
            Candidate one = ends[i] + rank < ends[i + 1] ? found[ends[i] + rank] : none;
            int64_t *column = INTS(out) + to;
            DOUBLES(score)[to] = one.score;
            column[0] = one.slot;
            column[room] = one.token;
            column[2 * room] = one.node;
            if (flags & 1) branch(t, &s, &one, column, room);
        }
    }
done:
    close_buffers(&buffers);
    return buffers.failed ? NULL : PyLong_FromSsize_t(width);
}

/* Open the tables of parts, for as many sentences as `sentences` says. */
static void open_parts(Buffers *buffers, PyObject *const *args, Parts *p) {
    open_all(buffers, args, "idiii",
             ARRAYS(&p->reached, &p->sizes, &p->missing, &p->wanted, &p->needs));
    p->parts = p->sentences ? p->reached.length / p->sentences : 0;
    int fits = all_have(p->parts * p->sentences, ARRAYS(&p->reached, &p->sizes)) &&
               p->missing.length == p->wanted.length && has_or_none(&p->needs, p->missing.length);
    refuse_unless(buffers, fits, "parts");
}

/* add_costs(whole, after, reached, sizes, missing, wanted, needs, node, seen, stages, score, out):
   write scores plus what the parts that are still unseen are expected to cost. shape of whole,
   reached and sizes: (parts, sentences), of missing, wanted and needs: (nodes, parts), of after:
   (sentences,), of the others: (sentences, candidates). */
static PyObject *add_costs(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    (void)self;
    if (refuse_count(nargs, 12, "add_costs")) return NULL;
    Buffers buffers = NO_BUFFERS;
    Parts p;
    Array node, seen, stages, score, out;
    open_all(&buffers, args, "dd", ARRAYS(&p.whole, &p.after));
    p.sentences = p.after.length;
    open_parts(&buffers, args + 2, &p);
    open_all(&buffers, args + 7, "iiidD", ARRAYS(&node, &seen, &stages, &score, &out));
    Py_ssize_t width = p.sentences ? score.length / p.sentences : 0;
    int fits = p.whole.length == p.parts * p.sentences && has_or_none(&stages, score.length) &&
               all_have(width * p.sentences, ARRAYS(&score, &out, &node, &seen));
    refuse_unless(&buffers, fits, "add_costs");
    double *costs = take_room(&buffers, p.parts, sizeof *costs);
    for (Py_ssize_t i = 0; i < score.length && !buffers.failed; i++) {
        uint64_t unmet = ~BITS(seen)[i] & (stages.data ? BITS(stages)[i] : ~(uint64_t)0);
        double cost = cost_to_come(&p, i / width, INTS(node)[i], BITS(seen)[i], unmet, costs);
        DOUBLES(out)[i] = DOUBLES(score)[i] + cost;
    }
    close_buffers(&buffers);
    if (buffers.failed) return NULL;
    Py_RETURN_NONE;
}

/* select(bank, score, slots, sentences, k, handicap, indices, taken): fill the beams. With `slots`,
   those of each bank before adjustment, their best take them; without, the k best of all after each
   has been set back by its rank in its bank. Return the widest beam. shape of bank and score:
   (sentences, candidates), of slots: (sentences, banks), of the others: room for all beams. */
static PyObject *select_beam(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    (void)self;
    Py_ssize_t sentences, k, widest = 0;
    double handicap;
    if (refuse_count(nargs, 8, "select") || read_size(args[3], &sentences) ||
        read_size(args[4], &k) || read_double(args[5], &handicap))
        return NULL;
    Buffers buffers = NO_BUFFERS;
    Array bank, score, slots, indices, taken;
    open_all(&buffers, args, "idi", ARRAYS(&bank, &score, &slots));
    open_all(&buffers, args + 6, "IB", ARRAYS(&indices, &taken));
    Py_ssize_t width = sentences > 0 ? bank.length / sentences : 0;
    Py_ssize_t given = sentences > 0 ? slots.length / sentences : 0;
    int fits = sentences > 0 && k >= 0 && all_have(width * sentences, ARRAYS(&bank, &score)) &&
               slots.length == given * sentences && taken.length == indices.length;
    Py_ssize_t banks = fits && !buffers.failed ? count_banks(INTS(bank), bank.length) : -1;
    for (Py_ssize_t i = 0; slots.data && banks > given && i < bank.length; i++)
        fits = fits && (INTS(bank)[i] < given || DOUBLES(score)[i] == CLOSED);
    refuse_unless(&buffers, fits && banks > 0, "select");
    Ranked *ranked = take_room(&buffers, width, sizeof *ranked);
    Py_ssize_t *starts = take_room(&buffers, banks + 2, sizeof *starts);
    int64_t *room = take_room(&buffers, 4 * given, sizeof *room);
    Py_ssize_t *filled = take_room(&buffers, sentences, sizeof *filled);
    Py_ssize_t *chosen = take_room(&buffers, bank.length, sizeof *chosen);
    for (Py_ssize_t s = 0; s < sentences && !buffers.failed; s++) {
        Py_ssize_t at = s * width;
        Py_ssize_t real = rank(INTS(bank) + at, DOUBLES(score) + at, width, banks, ranked, starts);
        filled[s] = slots.data
            ? choose_by_slots(ranked, real, INTS(slots) + s * given, given, room, chosen + at)
            : choose_by_price(ranked, width, k < width ? k : width, handicap, chosen + at);
        if (filled[s] > widest) widest = filled[s];
    }
    refuse_unless(&buffers, indices.length >= widest * sentences, "select");
    for (Py_ssize_t i = 0; i < widest * sentences && !buffers.failed; i++) {
        Py_ssize_t s = i / widest, rank_in = i % widest, first = s * width;
        int filling = rank_in < filled[s];
        INTS(indices)[i] = filling ? chosen[first + rank_in] : 0;
        FLAGS(taken)[i] = filling && DOUBLES(score)[first + chosen[first + rank_in]] > CLOSED;
    }
    close_buffers(&buffers);
    return buffers.failed ? NULL : PyLong_FromSsize_t(widest);
}

/* drop_behind(score, live, bank, sentences, lag): clear `live` where a hypothesis is more than
   `lag` below the best live one of its bank; without `bank`, of its sentence. */
static PyObject *drop_behind(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    (void)self;
    Py_ssize_t sentences, banks = 1;
    double lag;
    if (refuse_count(nargs, 5, "drop_behind") || read_size(args[3], &sentences) ||
        read_double(args[4], &lag))
        return NULL;
    Buffers buffers = NO_BUFFERS;
    Array score, live, bank;
    open_all(&buffers, args, "dBi", ARRAYS(&score, &live, &bank));
    Py_ssize_t width = sentences > 0 ? score.length / sentences : 0;
    int fits = sentences > 0 && all_have(width * sentences, ARRAYS(&score, &live)) &&
               has_or_none(&bank, score.length);
    if (fits && !buffers.failed && bank.data) banks = count_banks(INTS(bank), bank.length);
    refuse_unless(&buffers, fits && banks > 0, "drop_behind");
    double *best = take_room(&buffers, banks, sizeof *best);
    for (Py_ssize_t at = 0; at < score.length && !buffers.failed; at += width)
        drop(DOUBLES(score) + at, FLAGS(live) + at, bank.data ? INTS(bank) + at : NULL, width, lag,
             best, banks);
    close_buffers(&buffers);
    if (buffers.failed) return NULL;
    Py_RETURN_NONE;
}

/* is_sound(top_scores, top_ids, ask_scores, ban, eos, vocabulary, rounding): return whether the
   answer of a model is what the protocol says; what is wrong with it, the caller finds out. */
static PyObject *is_sound(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    (void)self;
    Py_ssize_t eos, vocabulary;
    double rounding;
    if (refuse_count(nargs, 7, "is_sound") || read_size(args[4], &eos) ||
        read_size(args[5], &vocabulary) || read_double(args[6], &rounding))
        return NULL;
    Buffers buffers = NO_BUFFERS;
    Array scores, ids, asked, ban;
    open_all(&buffers, args, "sisi", ARRAYS(&scores, &ids, &asked, &ban));
    int sound = !buffers.failed && buffers.views[1].ndim == 2;
    if (sound) {
        Py_ssize_t rows = buffers.views[1].shape[0];
        sound = is_answer_sound(&scores, &ids, &asked, &ban, rows, eos, vocabulary, rounding);
    }
    close_buffers(&buffers);
    return buffers.failed ? NULL : PyBool_FromLong(sound);
}

/* ask_live(tables, eos, live, token, row, node, seen, tokens, parents, ask, targets): write what
   the model is asked at a step: of each live slot its token and row, the end and, if there are
   tables, the tokens that start or continue an unmet phrase, and where those lead. Return how many
   rows there are, and how many such tokens each has at most. */
static PyObject *ask_live(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    (void)self;
    const Tables *t = NULL;
    Py_ssize_t eos, rows = 0, width = 0;
    if (refuse_count(nargs, 11, "ask_live") || (args[0] != Py_None && !(t = read_tables(args[0]))) ||
        read_size(args[1], &eos))
        return NULL;
    Buffers buffers = NO_BUFFERS;
    Array live, token, row, node, seen, tokens, parents, ask, targets;
    open_all(&buffers, args + 2, "biiiiIIII",
             ARRAYS(&live, &token, &row, &node, &seen, &tokens, &parents, &ask, &targets));
    Py_ssize_t all = live.length, listed = t ? t->asked : 0;
    int fits = all_have(all, ARRAYS(&token, &row)) && tokens.length >= all &&
               parents.length >= all && ask.length >= all * (1 + listed) &&
               targets.length >= all * listed && (!t || all_have(all, ARRAYS(&node, &seen)));
    refuse_unless(&buffers, fits, "ask_live");
    int64_t *slot = take_room(&buffers, all, sizeof *slot);
    unsigned char *useful = take_room(&buffers, all * listed, 1);
    for (Py_ssize_t i = 0; i < all && !buffers.failed; i++) {
        if (!FLAGS(live)[i]) continue;
        INTS(tokens)[rows] = INTS(token)[i];
        INTS(parents)[rows] = INTS(row)[i];
        slot[rows++] = i;
    }
    if (t && !buffers.failed) {
        Asking asking = {slot, INTS(node), BITS(seen), NULL, NULL};
        width = find_useful(t, &asking, rows, useful);
        write_useful(t, &asking, rows, width, useful, INTS(ask) + 1, 1 + width, INTS(targets));
    }
    for (Py_ssize_t i = 0; i < rows && !buffers.failed; i++) INTS(ask)[i * (1 + width)] = eos;
    close_buffers(&buffers);
    return buffers.failed ? NULL : Py_BuildValue("nn", rows, width);
}

/* Open what constraints add to a step: where slots stand, what was asked, what is expected. */
static void open_constraints(Buffers *buffers, PyObject *const *args, Step *x) {
    Proposals *p = &x->p;
    Py_ssize_t all = p->log_prob.length, sentences = p->sentences;
    open_all(buffers, args, "iiiiiiiiiiDDiddi",
             ARRAYS(&x->s.node, &x->s.met, &x->s.met_tokens, &x->s.seen, &x->s.seen_tokens, &x->bank,
                    &x->sizes, &x->ask, &x->c.targets, &x->slots, &x->sums, &x->counts, &x->kinds,
                    &x->expected, &x->prices, &x->drafts));
    x->parts.sentences = x->sums.data ? sentences : 0;
    if (x->sums.data) open_parts(buffers, args + 16, &x->parts);
    x->c.asked = p->answers - 1;
    x->c.stride = p->answers;
    x->c.tokens = INTS(x->ask) + 1;
    x->c.word_ends = (x->flags & WORD_ENDS) && x->t->table[BOUNDARY].length;
    int fits = all_have(all, ARRAYS(&x->s.node, &x->s.met, &x->s.met_tokens, &x->s.seen,
                                    &x->s.seen_tokens, &x->bank)) &&
               x->sizes.length == sentences && x->ask.length >= p->rows * p->answers &&
               x->c.targets.length >= p->rows * x->c.asked && x->slots.length % sentences == 0;
    if (x->sums.data)
        fits = fits && all_have(2 * sentences, ARRAYS(&x->sums, &x->counts)) &&
               all_have(sentences, ARRAYS(&x->expected, &x->drafts)) &&
               has_or_none(&x->prices, x->parts.parts * sentences);
    refuse_unless(buffers, fits, "advance");
    x->p.may_end.data = take_room(buffers, p->rows, 1);
    for (Py_ssize_t slot = 0, row = 0; slot < all && !buffers->failed; slot++)
        if (FLAGS(p->live)[slot])
            FLAGS(p->may_end)[row++] = INTS(x->bank)[slot] == INTS(x->sizes)[slot / p->slots];
}

static void take_rooms(Buffers *buffers, Step *x) {
    Py_ssize_t sentences = x->p.sentences, k = x->c.k;
    Py_ssize_t most = sentences * (x->t ? k + x->p.slots * (2 + x->c.asked) : k);
    x->found = take_room(buffers, most, sizeof *x->found);
    x->ends = take_room(buffers, sentences, sizeof *x->ends);
    x->filled = take_room(buffers, sentences, sizeof *x->filled);
    x->chosen = take_room(buffers, sentences * k, sizeof *x->chosen);
    x->c.best = take_room(buffers, k, sizeof *x->c.best);
    if (!x->t) return;
    x->c.among = take_room(buffers, x->p.slots * (1 + x->p.top), 1);
    x->states = take_room(buffers, 8 * most, sizeof *x->states);
    x->worth = take_room(buffers, 2 * most, sizeof *x->worth);
    x->unit = take_room(buffers, 2 * sentences, sizeof *x->unit);
    x->learnt = take_room(buffers, 4 * sentences, sizeof *x->learnt);
    x->costs = take_room(buffers, x->parts.parts * (1 + sentences), sizeof *x->costs);
    if (buffers->failed) return;
    x->parts.after.data = x->unit + sentences;
    x->parts.whole.data = x->costs + x->parts.parts;
    memset(x->learnt, 0, 4 * sentences * sizeof *x->learnt);
}

/* advance(tables, k, flags, eos, vocabulary, numbers, log_prob, score, live, finished, first,
   top_scores, top_ids, ask_scores, node, met, met_tokens, seen, seen_tokens, bank, sizes, ask,
   targets, slots, sums, counts, kinds, expected, prices, drafts, reached, part_sizes, missing,
   wanted, needs, ints, states, scores, flags): take a whole step, from the model's answer to the
   new beams. Without tables it is one of plain search. `slots` are those of each bank before
   adjustment; without them candidates are set back by the handicap. Without `sums` nothing is
   expected of what is unmet. Written are token, parent and row; the states; log_prob, score and
   worth; finished, live and what has just ended; each with room for k per sentence. Return the
   width of the beams, whether anything has just ended, and whether every sentence goes on; None if
   the model's answer is not what the protocol says. */
static PyObject *advance(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    (void)self;
    if (refuse_count(nargs, 39, "advance")) return NULL;
    Step x;
    memset(&x, 0, sizeof x);
    if (args[0] != Py_None && !(x.t = read_tables(args[0]))) return NULL;
    if (read_size(args[1], &x.c.k) || read_size(args[2], &x.flags) || read_size(args[3], &x.eos) ||
        read_size(args[4], &x.vocabulary))
        return NULL;
    Buffers buffers = NO_BUFFERS;
    Array numbers = open_array(&buffers, args[5], 'd', 0), none = {NULL, 0, 0};
    Py_ssize_t width = 1;
    int newly = 0, all_live = 1;
    if (open_answers(&buffers, args + 6, &x.p)) goto done;
    x.number = DOUBLES(numbers);
    x.p.row.data = take_room(&buffers, x.p.log_prob.length, sizeof(int64_t));
    x.c.t = x.t;
    x.c.p = &x.p;
    x.c.s = &x.s;
    if (x.t && !buffers.failed) open_constraints(&buffers, args + 14, &x);
    open_all(&buffers, args + 35, "IIDB",
             ARRAYS(&x.out_ints, &x.out_states, &x.out_scores, &x.out_flags));
    Py_ssize_t room = x.p.sentences * x.c.k;
    int fits = x.c.k > 0 && numbers.length == NUMBERS && x.out_ints.length >= 3 * room &&
               (!x.t || x.out_states.length >= 6 * room) && x.out_scores.length >= 3 * room &&
               x.out_flags.length >= 3 * room;
    if (refuse_unless(&buffers, fits, "advance")) goto done;
    if (!is_answer_sound(&x.p.top_scores, &x.p.top_ids, &x.p.ask_scores, &none, x.p.rows, x.eos,
                         x.vocabulary, x.number[ROUNDING])) {
        close_buffers(&buffers);
        Py_RETURN_NONE;
    }
    x.p.lowest = x.number[LOWEST];
    number_rows(&x.p);
    take_rooms(&buffers, &x);
    if (buffers.failed) goto done;
    find_candidates(&x);
    if (x.t) choose(&buffers, &x);
    if (buffers.failed) goto done;
    for (Py_ssize_t s = 0; s < x.p.sentences; s++)
        if (x.filled[s] > width) width = x.filled[s];
    newly = write_beams(&x, width);
    if ((x.flags & DROP) && !newly) drop_from_beams(&buffers, &x, width);
    for (Py_ssize_t s = 0; s < x.p.sentences && !buffers.failed; s++)
        all_live = all_live && memchr(FLAGS(x.out_flags) + x.p.sentences * width + s * width, 1, width);
done:
    close_buffers(&buffers);
    return buffers.failed ? NULL : Py_BuildValue("nii", width, newly, all_live);
}

/* --- the module -------------------------------------------------------------------------------- */

static PyMethodDef functions[] = {
    FUNCTION("tables", make_tables),
    FUNCTION("ask", ask),
    FUNCTION("collect", collect),
    FUNCTION("add_costs", add_costs),
    FUNCTION("select", select_beam),
    FUNCTION("drop_behind", drop_behind),
    FUNCTION("is_sound", is_sound),
    FUNCTION("ask_live", ask_live),
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
