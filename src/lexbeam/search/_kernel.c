/* The arithmetic of a search step, compiled.

Every function here does what a few dozen calls of NumPy do on arrays of fifty numbers; the NumPy
code beside the caller is the definition, and the tests hold both equal. Nothing is kept between
calls but the tables of an automaton. Arrays come in by the buffer protocol, C-contiguous; results
are written into arrays that the caller has made. Only the stable interface of Python is used, so
that one build serves all versions from 3.11 on. */

#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PAD (-1)
#define MOST_BUFFERS 48
#define MOST_ROOMS 24
#define CLOSED (-INFINITY)

/* --- arrays from Python ----------------------------------------------------------------------- */

typedef struct {
    void *data;
    Py_ssize_t length; /* number of entries */
    int single;        /* scores only: float32, not float64 */
} Array;

typedef struct {
    Py_buffer views[MOST_BUFFERS];
    void *rooms[MOST_ROOMS];
    int count, rooms_taken, failed;
} Buffers;

static void close_buffers(Buffers *buffers) {
    for (int i = 0; i < buffers->count; i++) PyBuffer_Release(&buffers->views[i]);
    for (int i = 0; i < buffers->rooms_taken; i++) free(buffers->rooms[i]);
    buffers->count = buffers->rooms_taken = 0;
}

/* Return room for so many things, which is freed with the buffers; NULL if something has failed. */
static void *take_room(Buffers *buffers, Py_ssize_t number, size_t size) {
    if (buffers->failed) return NULL;
    void *room = buffers->rooms_taken < MOST_ROOMS ? malloc((number + 1) * size) : NULL;
    if (room == NULL) {
        PyErr_NoMemory();
        buffers->failed = 1;
        return NULL;
    }
    return buffers->rooms[buffers->rooms_taken++] = room;
}

/* Open an array; `kind` is 'i' for int64 or uint64, 'd' for float64, 's' for scores of either
   precision, 'b' for bool. None gives an array without data. */
static Array open_array(Buffers *buffers, PyObject *object, char kind, int writable) {
    Array array = {NULL, 0, 0};
    if (buffers->failed || object == Py_None) return array;
    int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
    Py_buffer *view = &buffers->views[buffers->count];
    if (buffers->count == MOST_BUFFERS || PyObject_GetBuffer(object, view, flags)) {
        buffers->failed = 1;
        return array;
    }
    buffers->count++;
    char format = view->format ? view->format[0] : 'B';
    int fits = kind == 'i'   ? view->itemsize == 8 && strchr("lLqQ", format) != NULL
               : kind == 'd' ? format == 'd'
               : kind == 's' ? format == 'd' || format == 'f'
                             : view->itemsize == 1;
    if (!fits) {
        PyErr_Format(PyExc_TypeError, "expected an array of kind '%c', not of '%c'", kind, format);
        buffers->failed = 1;
        return array;
    }
    array.data = view->buf;
    array.length = view->len / view->itemsize;
    array.single = format == 'f';
    return array;
}

static int refuse_unless(Buffers *buffers, int fits, const char *name) {
    if (!buffers->failed && !fits) {
        PyErr_Format(PyExc_ValueError, "%s: the arrays don't fit together", name);
        buffers->failed = 1;
    }
    return buffers->failed;
}

static inline double score_at(const Array *scores, Py_ssize_t index) {
    return scores->single ? (double)((const float *)scores->data)[index]
                          : ((const double *)scores->data)[index];
}

#define INTS(array) ((int64_t *)(array).data)
#define BITS(array) ((uint64_t *)(array).data)
#define DOUBLES(array) ((double *)(array).data)
#define FLAGS(array) ((unsigned char *)(array).data)

static int read_size(PyObject *object, Py_ssize_t *size) {
    *size = PyNumber_AsSsize_t(object, PyExc_OverflowError);
    return *size == -1 && PyErr_Occurred() ? -1 : 0;
}

/* --- the tables of an automaton ---------------------------------------------------------------- */

enum {
    SYMBOL, FROM_ROOT, ROW_OF_NODE, MOVE_SYMBOLS, MOVE_TARGETS, LISTED_KEYS, LISTED_TARGETS,
    ASK_TOKENS, ASK_TARGETS, SERVES,
    NOW_SETS, NOW_REPEATS, NOW_NEEDS, NOW_WEIGHT,
    LATER_SETS, LATER_REPEATS, LATER_NEEDS, LATER_WEIGHT,
    BEGUN_GAIN, BEGUN_BITS, BEGUN_NEEDS, BOUNDARY, TABLES
};

typedef struct {
    Buffers buffers;
    Array table[TABLES];
    int64_t symbols;
    Py_ssize_t nodes, moves, asked, now, later, begun;
} Tables;

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

/* The node that a token leads to. */
static int64_t follow(const Tables *t, int64_t node, int64_t token) {
    int64_t symbol = INTS(t->table[SYMBOL])[token];
    const int64_t *symbols = INTS(t->table[MOVE_SYMBOLS]) + node * t->moves;
    for (Py_ssize_t move = 0; move < t->moves; move++)
        if (symbols[move] == symbol) return INTS(t->table[MOVE_TARGETS])[node * t->moves + move];
    Py_ssize_t low = 0, high = t->table[LISTED_KEYS].length;
    if (high) {
        const int64_t *keys = INTS(t->table[LISTED_KEYS]);
        int64_t sought = node * t->symbols + symbol;
        while (low < high) {
            Py_ssize_t middle = (low + high) / 2;
            if (keys[middle] < sought) low = middle + 1;
            else high = middle;
        }
        if (low < t->table[LISTED_KEYS].length && keys[low] == sought)
            return INTS(t->table[LISTED_TARGETS])[low];
    }
    return INTS(t->table[FROM_ROOT])[INTS(t->table[ROW_OF_NODE])[node] + symbol];
}

/* Mark what ends at a node as met, each occurrence once; `first` is the first of four tables. */
static void complete(
    const Tables *t, int first, Py_ssize_t layers, int64_t node, uint64_t *met, int64_t *tokens
) {
    for (Py_ssize_t layer = 0; layer < layers; layer++) {
        Py_ssize_t at = layer * t->nodes + node;
        uint64_t needs = BITS(t->table[first + 2])[at];
        if (needs && !(needs & *met)) continue;
        uint64_t added = BITS(t->table[first])[at];
        added |= (*met << 1) & BITS(t->table[first + 1])[at];
        added &= ~*met;
        if (added) *tokens += INTS(t->table[first + 3])[at];
        *met |= added;
    }
}

/* The tokens of the longest beginning of something unmet. */
static int64_t in_progress(const Tables *t, int64_t node, uint64_t seen) {
    int64_t most = 0;
    for (Py_ssize_t layer = 0; layer < t->begun; layer++) {
        Py_ssize_t at = layer * t->nodes + node;
        uint64_t needs = BITS(t->table[BEGUN_NEEDS])[at];
        if (!(BITS(t->table[BEGUN_BITS])[at] & ~seen) || (needs && !(needs & seen))) continue;
        int64_t gain = INTS(t->table[BEGUN_GAIN])[at];
        if (gain > most) most = gain;
    }
    return most;
}

/* Where hypotheses stand, as far as it says what they ask for. */
typedef struct {
    const int64_t *slot; /* of each row; NULL: rows are slots */
    const int64_t *node;
    const uint64_t *seen, *stages;
    const unsigned char *hold;
} Asking;

/* Mark which of the listed tokens start or continue an unmet phrase of each row; return how many a
   row has at most. `useful` has room for all that is listed. */
static Py_ssize_t find_useful(const Tables *t, const Asking *a, Py_ssize_t rows, unsigned char *useful) {
    Py_ssize_t width = 0, listed = t->asked, words = t->table[BOUNDARY].length;
    for (Py_ssize_t row = 0; row < rows; row++) {
        Py_ssize_t slot = a->slot ? a->slot[row] : row, at = a->node[slot] * listed, count = 0;
        uint64_t unmet = ~a->seen[slot] & (a->stages ? a->stages[slot] : ~(uint64_t)0);
        for (Py_ssize_t i = 0; i < listed; i++) {
            int64_t token = INTS(t->table[ASK_TOKENS])[at + i];
            int use = (BITS(t->table[SERVES])[INTS(t->table[ASK_TARGETS])[at + i]] & unmet) != 0;
            if (use && a->hold && a->hold[slot] && words)
                use = !FLAGS(t->table[BOUNDARY])[token < 0 ? token + words : token];
            useful[row * listed + i] = (unsigned char)use;
            count += use;
        }
        if (count > width) width = count;
    }
    return width;
}

/* Write what is useful side by side, `width` in each row; rows of tokens begin every `stride`. */
static void write_useful(const Tables *t, const Asking *a, Py_ssize_t rows, Py_ssize_t width,
                         const unsigned char *useful, int64_t *tokens, Py_ssize_t stride,
                         int64_t *targets) {
    for (Py_ssize_t row = 0; row < rows; row++) {
        Py_ssize_t at = a->node[a->slot ? a->slot[row] : row] * t->asked, count = 0;
        for (Py_ssize_t i = 0; i < t->asked; i++) {
            if (!useful[row * t->asked + i]) continue;
            tokens[row * stride + count] = INTS(t->table[ASK_TOKENS])[at + i];
            targets[row * width + count++] = INTS(t->table[ASK_TARGETS])[at + i];
        }
        for (; count < width; count++) {
            tokens[row * stride + count] = PAD;
            targets[row * width + count] = 0;
        }
    }
}

/* ask(tables, node, seen, stages, hold, tokens, targets): write the tokens that start or continue
   an unmet phrase, and where they lead, side by side; return how many each hypothesis has at most.
   `tokens` and `targets` have room for all that is listed. */
static PyObject *ask(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    (void)self;
    if (nargs != 7) return PyErr_Format(PyExc_TypeError, "ask takes 7 arguments, not %zd", nargs);
    const Tables *t = read_tables(args[0]);
    if (t == NULL) return NULL;
    Buffers buffers = {.count = 0, .rooms_taken = 0, .failed = 0};
    Array node = open_array(&buffers, args[1], 'i', 0), seen = open_array(&buffers, args[2], 'i', 0);
    Array stages = open_array(&buffers, args[3], 'i', 0);
    Array hold = open_array(&buffers, args[4], 'b', 0);
    Array tokens = open_array(&buffers, args[5], 'i', 1);
    Array targets = open_array(&buffers, args[6], 'i', 1);
    Py_ssize_t rows = node.length, room = rows * t->asked, width = 0;
    int fits = seen.length == rows && tokens.length >= room && targets.length >= room &&
               (!stages.data || stages.length == rows) && (!hold.data || hold.length == rows);
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

/* --- the model's answer ------------------------------------------------------------------------ */

/* The hypotheses of a batch and what the model says of their continuations. */
typedef struct {
    Array log_prob, score, live, finished, first;
    Array top_scores, top_ids, ask_scores, may_end;
    Array row; /* written: the model's row of each slot */
    double lowest; /* what the end and what is asked for score at least */
    Py_ssize_t sentences, slots, rows, top, answers; /* answers: columns of ask_scores */
} Proposals;

/* Open all but `may_end` and `row`. */
static int open_answers(Buffers *buffers, PyObject *const *args, Proposals *p) {
    p->log_prob = open_array(buffers, args[0], 'd', 0);
    p->score = open_array(buffers, args[1], 'd', 0);
    p->live = open_array(buffers, args[2], 'b', 0);
    p->finished = open_array(buffers, args[3], 'b', 0);
    p->first = open_array(buffers, args[4], 'i', 0);
    p->top_scores = open_array(buffers, args[5], 's', 0);
    p->top_ids = open_array(buffers, args[6], 'i', 0);
    p->ask_scores = open_array(buffers, args[7], 's', 0);
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
    int fits = p->sentences > 0 && p->slots * p->sentences == all && p->score.length == all &&
               p->live.length == all && p->finished.length == all &&
               p->top_scores.length == p->rows * p->top && p->top_ids.length == p->top_scores.length &&
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
    p->may_end = open_array(buffers, args[8], 'b', 0);
    p->row = open_array(buffers, args[9], 'i', 1);
    int fits = p->row.length == p->log_prob.length && (!p->may_end.data || p->may_end.length == p->rows);
    if (refuse_unless(buffers, fits, "proposals")) return -1;
    number_rows(p);
    return 0;
}

/* What the model answered for an asked token of a row; 0 is the end. */
static double answer_at(const Proposals *p, int64_t row, Py_ssize_t asked) {
    double score = score_at(&p->ask_scores, row * p->answers + asked);
    return score > p->lowest ? score : p->lowest;
}

/* What an option of a slot scores; option 0 is the end (or what is forced), or to stay finished. */
static double option_score(const Proposals *p, Py_ssize_t slot, Py_ssize_t option) {
    if (!FLAGS(p->live)[slot])
        return option == 0 && FLAGS(p->finished)[slot] ? DOUBLES(p->score)[slot] : CLOSED;
    int64_t row = INTS(p->row)[slot];
    double so_far = DOUBLES(p->log_prob)[slot];
    if (option) return so_far + score_at(&p->top_scores, row * p->top + option - 1);
    if (p->may_end.data && !FLAGS(p->may_end)[row]) return CLOSED;
    return so_far + answer_at(p, row, 0);
}

static int64_t option_token(const Proposals *p, Py_ssize_t slot, Py_ssize_t option) {
    if (option == 0) return INTS(p->first)[slot / p->slots];
    return INTS(p->top_ids)[INTS(p->row)[slot] * p->top + option - 1];
}

typedef struct {
    double score;
    Py_ssize_t slot, option;
} Option;

/* Write the k best options of a sentence, best first, of equals the first; return how many. */
static Py_ssize_t k_best(const Proposals *p, Py_ssize_t sentence, Py_ssize_t k, Option *best) {
    Py_ssize_t count = 0;
    for (Py_ssize_t slot = sentence * p->slots; slot < (sentence + 1) * p->slots; slot++) {
        Py_ssize_t options = FLAGS(p->live)[slot] ? 1 + p->top : FLAGS(p->finished)[slot] != 0;
        for (Py_ssize_t option = 0; option < options; option++) {
            double score = option_score(p, slot, option);
            if (score == CLOSED || (count == k && !(score > best[k - 1].score))) continue;
            Py_ssize_t at = count < k ? count++ : k - 1;
            for (; at > 0 && best[at - 1].score < score; at--) best[at] = best[at - 1];
            best[at] = (Option){score, slot, option};
        }
    }
    return count;
}

/* best(k, proposals…, score, slot, token): write the k best continuations of each sentence, whose
   arrays have room for k each; return how many the sentences have at most, at least 1. */
static PyObject *best(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    (void)self;
    Py_ssize_t k;
    if (nargs != 14) return PyErr_Format(PyExc_TypeError, "best takes 14 arguments, not %zd", nargs);
    if (read_size(args[0], &k)) return NULL;
    Buffers buffers = {.count = 0, .rooms_taken = 0, .failed = 0};
    Proposals p;
    Py_ssize_t width = 1;
    if (open_proposals(&buffers, args + 1, &p)) goto done;
    Array score = open_array(&buffers, args[11], 'd', 1), slot = open_array(&buffers, args[12], 'i', 1);
    Array token = open_array(&buffers, args[13], 'i', 1);
    Py_ssize_t room = p.sentences * k;
    int fits = k > 0 && score.length >= room && slot.length >= room && token.length >= room;
    if (refuse_unless(&buffers, fits, "best")) goto done;
    Option *found = take_room(&buffers, room, sizeof *found);
    Py_ssize_t *counts = take_room(&buffers, p.sentences, sizeof *counts);
    if (buffers.failed) goto done;
    for (Py_ssize_t i = 0; i < p.sentences; i++) {
        counts[i] = k_best(&p, i, k, found + i * k);
        if (counts[i] > width) width = counts[i];
    }
    for (Py_ssize_t i = 0; i < p.sentences; i++) {
        for (Py_ssize_t rank = 0; rank < width; rank++) {
            Option none = {CLOSED, i * p.slots, 0};
            Option one = rank < counts[i] ? found[i * k + rank] : none;
            DOUBLES(score)[i * width + rank] = one.score;
            INTS(slot)[i * width + rank] = one.slot;
            INTS(token)[i * width + rank] = option_token(&p, one.slot, one.option);
        }
    }
done:
    close_buffers(&buffers);
    return buffers.failed ? NULL : PyLong_FromSsize_t(width);
}

/* --- candidates with constraints --------------------------------------------------------------- */

typedef struct {
    double score;
    int64_t slot, token, node;
} Candidate;

/* Where the hypotheses of all slots stand in their constraints. */
typedef struct {
    Array node, met, met_tokens, seen, seen_tokens, stages;
} Standing;

static uint64_t unmet_at(const Standing *s, Py_ssize_t slot) {
    return ~BITS(s->seen)[slot] & (s->stages.data ? BITS(s->stages)[slot] : ~(uint64_t)0);
}

typedef struct {
    const Tables *t;
    const Proposals *p;
    const Standing *s;
    const int64_t *tokens; /* what was asked, a row begins every `stride` */
    Array targets;         /* where that leads. shape: (rows, asked) */
    Array sizes;           /* the beam of each sentence, if not k for all */
    Py_ssize_t k, asked, stride;
    int word_ends;
    Option *best;
    unsigned char *among; /* which options are among the k best */
} Collector;

/* Add an option, unless it goes on with an unmet phrase: then it was asked for. */
static void add_option(const Collector *c, Option one, Candidate *found, Py_ssize_t *count) {
    int64_t token = option_token(c->p, one.slot, one.option);
    int64_t node = follow(c->t, INTS(c->s->node)[one.slot], token);
    uint64_t serves = BITS(c->t->table[SERVES])[node];
    if (c->asked && one.option && (serves & unmet_at(c->s, one.slot))) return;
    found[(*count)++] = (Candidate){one.score, one.slot, token, node};
}

/* The best option of a slot, of those that end a word if `ending`; of equals the first. */
static Option best_of_slot(const Collector *c, Py_ssize_t slot, int ending) {
    Option best = {CLOSED, slot, 0};
    Py_ssize_t options = FLAGS(c->p->live)[slot] ? 1 + c->p->top : 1;
    for (Py_ssize_t option = 0; option < options; option++) {
        double score = option_score(c->p, slot, option);
        if (!(score > best.score)) continue;
        if (ending && !FLAGS(c->t->table[BOUNDARY])[option_token(c->p, slot, option)]) continue;
        best.score = score;
        best.option = option;
    }
    return best;
}

/* Write the candidates of a sentence (paper, Algorithm 2, lines 2 to 10); return how many. */
static Py_ssize_t collect_one(const Collector *c, Py_ssize_t sentence, Candidate *found) {
    const Proposals *p = c->p;
    Py_ssize_t count = 0, options = 1 + p->top, first = sentence * p->slots, end = first + p->slots;
    Py_ssize_t k = c->sizes.data ? (Py_ssize_t)INTS(c->sizes)[sentence] : c->k;
    Py_ssize_t best = k_best(p, sentence, k, c->best);
    memset(c->among, 0, p->slots * options);
    for (Py_ssize_t rank = 0; rank < best; rank++) {
        c->among[(c->best[rank].slot - first) * options + c->best[rank].option] = 1;
        add_option(c, c->best[rank], found, &count);
    }
    for (Py_ssize_t slot = first; slot < end; slot++) {
        Option one = best_of_slot(c, slot, 0);
        if (one.score == CLOSED || c->among[(slot - first) * options + one.option]) continue;
        add_option(c, one, found, &count);
    }
    for (Py_ssize_t slot = first; slot < end && c->word_ends; slot++) {
        if (INTS(c->s->seen_tokens)[slot] <= INTS(c->s->met_tokens)[slot]) continue;
        Option one = best_of_slot(c, slot, 1);
        if (one.score == CLOSED || c->among[(slot - first) * options + one.option] ||
            one.option == best_of_slot(c, slot, 0).option)
            continue;
        add_option(c, one, found, &count);
    }
    for (Py_ssize_t slot = first; slot < end && c->asked; slot++) {
        if (!FLAGS(p->live)[slot]) continue;
        int64_t row = INTS(p->row)[slot];
        for (Py_ssize_t i = 0; i < c->asked; i++) {
            int64_t token = c->tokens[row * c->stride + i];
            double score = DOUBLES(p->log_prob)[slot] + answer_at(p, row, 1 + i);
            if (token == PAD || score == CLOSED) continue;
            int64_t target = INTS(c->targets)[row * c->asked + i];
            found[count++] = (Candidate){score, slot, token, target};
        }
    }
    return count;
}

/* Let a candidate take its token: write its state into row `at` of the columns of `out`. */
static void branch(const Tables *t, const Standing *s, const Candidate *c, int64_t *out,
                   Py_ssize_t stride) {
    uint64_t met = BITS(s->met)[c->slot], seen = BITS(s->seen)[c->slot];
    int64_t met_tokens = INTS(s->met_tokens)[c->slot], seen_tokens = INTS(s->seen_tokens)[c->slot];
    if (!t->table[BOUNDARY].length || FLAGS(t->table[BOUNDARY])[c->token]) {
        met = seen;
        met_tokens = seen_tokens;
    }
    complete(t, NOW_SETS, t->now, c->node, &met, &met_tokens);
    seen = met;
    seen_tokens = met_tokens;
    complete(t, LATER_SETS, t->later, c->node, &seen, &seen_tokens);
    out[3 * stride] = (int64_t)met;
    out[4 * stride] = met_tokens;
    out[5 * stride] = (int64_t)seen;
    out[6 * stride] = seen_tokens;
    out[7 * stride] = seen_tokens + in_progress(t, c->node, seen);
}

/* Open what a step knows of constraints: tables, k, where the slots stand, what was asked. */
static int open_collector(Buffers *buffers, PyObject *const *args, Collector *c, Standing *s,
                          const Proposals *p) {
    s->node = open_array(buffers, args[0], 'i', 0);
    s->met = open_array(buffers, args[1], 'i', 0);
    s->met_tokens = open_array(buffers, args[2], 'i', 0);
    s->seen = open_array(buffers, args[3], 'i', 0);
    s->seen_tokens = open_array(buffers, args[4], 'i', 0);
    s->stages = open_array(buffers, args[5], 'i', 0);
    Array tokens = open_array(buffers, args[6], 'i', 0);
    c->targets = open_array(buffers, args[7], 'i', 0);
    c->tokens = INTS(tokens);
    c->asked = c->stride = p->rows ? tokens.length / p->rows : 0;
    Py_ssize_t all = p->log_prob.length;
    int fits = c->k > 0 && s->node.length == all && s->met.length == all &&
               s->met_tokens.length == all && s->seen.length == all &&
               s->seen_tokens.length == all && (!s->stages.data || s->stages.length == all) &&
               tokens.length == p->rows * c->asked && c->targets.length == tokens.length &&
               p->answers == 1 + c->asked;
    return refuse_unless(buffers, fits, "collect") ? -1 : 0;
}

/* collect(tables, k, flags, proposals…, states…, tokens, targets, score, out, sizes): write the
   candidates of every sentence. k is the largest beam, `sizes` the beam of each sentence, none if
   it is k for all. Rows of `out` are slot, token, node, and, if 1 is among the
   flags, the state that each leads to: met, met_tokens, seen, seen_tokens, bank. With 2 the best
   ends of words are candidates. Return how many the sentences have
   at most, at least 1, or minus that number if there is too little room. */
static PyObject *collect(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    (void)self;
    if (nargs != 24) return PyErr_Format(PyExc_TypeError, "collect takes 24 arguments, not %zd", nargs);
    const Tables *t = read_tables(args[0]);
    Collector c = {.t = t};
    Py_ssize_t flags;
    if (t == NULL || read_size(args[1], &c.k) || read_size(args[2], &flags)) return NULL;
    c.word_ends = (flags & 2) && t->table[BOUNDARY].length;
    Buffers buffers = {.count = 0, .rooms_taken = 0, .failed = 0};
    Proposals p;
    Standing s;
    c.p = &p;
    c.s = &s;
    Py_ssize_t width = 1;
    if (open_proposals(&buffers, args + 3, &p) || open_collector(&buffers, args + 13, &c, &s, &p))
        goto done;
    Array score = open_array(&buffers, args[21], 'd', 1), out = open_array(&buffers, args[22], 'i', 1);
    c.sizes = open_array(&buffers, args[23], 'i', 0);
    Py_ssize_t room = score.length, most = c.k + p.slots * (2 + c.asked);
    int fits = out.length == 8 * room && (!c.sizes.data || c.sizes.length == p.sentences);
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
            Candidate none = {CLOSED, slot, INTS(p.first)[i], INTS(s.node)[slot]};
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

/* --- what constraints are going to cost -------------------------------------------------------- */

/* sum_by_kind(tokens, targets, scores, sentence, kind_of_node, lowest, sums, counts): add up what
   the model answered for asked tokens, by sentence and by the kind of the node that they lead to.
   shape of sums and counts: (sentences, 2), of sentence: (rows,). */
static PyObject *sum_by_kind(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    (void)self;
    if (nargs != 8) return PyErr_Format(PyExc_TypeError, "8 arguments, not %zd", nargs);
    double lowest = PyFloat_AsDouble(args[5]);
    if (lowest == -1.0 && PyErr_Occurred()) return NULL;
    Buffers buffers = {.count = 0, .rooms_taken = 0, .failed = 0};
    Array tokens = open_array(&buffers, args[0], 'i', 0);
    Array targets = open_array(&buffers, args[1], 'i', 0);
    Array scores = open_array(&buffers, args[2], 's', 0);
    Array sentence = open_array(&buffers, args[3], 'i', 0);
    Array kinds = open_array(&buffers, args[4], 'i', 0);
    Array sums = open_array(&buffers, args[6], 'd', 1);
    Array counts = open_array(&buffers, args[7], 'd', 1);
    Py_ssize_t rows = sentence.length, asked = rows ? tokens.length / rows : 0;
    int fits = tokens.length == rows * asked && targets.length == tokens.length &&
               scores.length == tokens.length && sums.length == counts.length;
    for (Py_ssize_t row = 0; fits && !buffers.failed && row < rows; row++)
        fits = INTS(sentence)[row] >= 0 && 2 * INTS(sentence)[row] + 1 < sums.length;
    refuse_unless(&buffers, fits, "sum_by_kind");
    for (Py_ssize_t row = 0; row < rows && !buffers.failed; row++) {
        for (Py_ssize_t i = 0; i < asked; i++) {
            if (INTS(tokens)[row * asked + i] == PAD) continue;
            double score = score_at(&scores, row * asked + i);
            int64_t kind = INTS(kinds)[INTS(targets)[row * asked + i]] + 2 * INTS(sentence)[row];
            DOUBLES(sums)[kind] += score > lowest ? score : lowest;
            DOUBLES(counts)[kind] += 1.0;
        }
    }
    close_buffers(&buffers);
    if (buffers.failed) return NULL;
    Py_RETURN_NONE;
}

/* The tables of the parts of constraints: by part and sentence, and by node and part. */
typedef struct {
    Array whole, after, reached, sizes, missing, wanted, needs;
    Py_ssize_t sentences, parts;
} Parts;

/* Open the tables of parts, for as many sentences as `sentences` says. */
static void open_parts(Buffers *buffers, PyObject *const *args, Parts *p) {
    p->reached = open_array(buffers, args[0], 'i', 0);
    p->sizes = open_array(buffers, args[1], 'd', 0);
    p->missing = open_array(buffers, args[2], 'i', 0);
    p->wanted = open_array(buffers, args[3], 'i', 0);
    p->needs = open_array(buffers, args[4], 'i', 0);
    p->parts = p->sentences ? p->reached.length / p->sentences : 0;
    int fits = p->reached.length == p->parts * p->sentences &&
               p->sizes.length == p->reached.length && p->missing.length == p->wanted.length &&
               (!p->needs.data || p->needs.length == p->missing.length);
    refuse_unless(buffers, fits, "parts");
}

/* What a hypothesis has still to pay; `costs` is room for a number per part. */
static double cost_to_come(const Parts *p, Py_ssize_t sentence, int64_t node, uint64_t seen,
                           uint64_t unmet, double *costs) {
    double best_gain = 0.0, total = 0.0;
    Py_ssize_t best = 0;
    for (Py_ssize_t part = 0; part < p->parts; part++) {
        Py_ssize_t here = part * p->sentences + sentence, at = node * p->parts + part;
        int unseen = !(BITS(p->reached)[here] & seen) && DOUBLES(p->sizes)[here] > 0;
        costs[part] = unseen ? DOUBLES(p->whole)[here] : 0.0;
        double gain = 0.0;
        int64_t missing = INTS(p->missing)[at];
        uint64_t needs = p->needs.data ? BITS(p->needs)[at] : 0;
        if (unseen && missing > 0 && (BITS(p->wanted)[at] & unmet) && (!needs || (needs & seen)))
            gain = DOUBLES(p->after)[sentence] * (double)missing - costs[part];
        if (part == 0 || gain > best_gain) {
            best = part;
            best_gain = gain;
        }
    }
    for (Py_ssize_t part = 0; part < p->parts; part++) {
        if (part == best && best_gain > 0) costs[part] += best_gain;
        total += costs[part];
    }
    return total;
}

/* add_costs(whole, after, reached, sizes, missing, wanted, needs, node, seen, stages, score, out):
   write scores plus what the parts that are still unseen are expected to cost. shape of whole,
   reached and sizes: (parts, sentences), of missing, wanted and needs: (nodes, parts), of after:
   (sentences,), of the others: (sentences, candidates). */
static PyObject *add_costs(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    (void)self;
    if (nargs != 12) return PyErr_Format(PyExc_TypeError, "12 arguments, not %zd", nargs);
    Buffers buffers = {.count = 0, .rooms_taken = 0, .failed = 0};
    Parts p;
    p.whole = open_array(&buffers, args[0], 'd', 0);
    p.after = open_array(&buffers, args[1], 'd', 0);
    p.sentences = p.after.length;
    open_parts(&buffers, args + 2, &p);
    Array node = open_array(&buffers, args[7], 'i', 0), seen = open_array(&buffers, args[8], 'i', 0);
    Array stages = open_array(&buffers, args[9], 'i', 0);
    Array score = open_array(&buffers, args[10], 'd', 0), out = open_array(&buffers, args[11], 'd', 1);
    Py_ssize_t width = p.sentences ? score.length / p.sentences : 0;
    int fits = p.whole.length == p.parts * p.sentences && score.length == width * p.sentences && out.length == score.length &&
               node.length == score.length && seen.length == score.length &&
               (!stages.data || stages.length == score.length);
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

/* --- filling the beam -------------------------------------------------------------------------- */

typedef struct {
    double score, price; /* price: what banks are compared by, set back by the rank in the bank */
    int64_t bank;
    Py_ssize_t index;
} Ranked;

/* By score, of equals the first. */
static int by_score(const void *left, const void *right) {
    const Ranked *a = left, *b = right;
    if (a->score != b->score) return a->score < b->score ? 1 : -1;
    return a->index < b->index ? -1 : 1;
}

/* Sort by score; nearly every bank has few candidates. */
static void sort_by_score(Ranked *ranked, Py_ssize_t count) {
    if (count > 32) {
        qsort(ranked, count, sizeof *ranked, by_score);
        return;
    }
    for (Py_ssize_t i = 1; i < count; i++) {
        Ranked one = ranked[i];
        Py_ssize_t at = i;
        for (; at > 0 && ranked[at - 1].score < one.score; at--) ranked[at] = ranked[at - 1];
        ranked[at] = one;
    }
}

/* Put the candidates of a sentence by bank from the top, then by score; what is no candidate comes
   last. `starts` is room for a number per bank and two more. Return how many are real. */
static Py_ssize_t rank(const int64_t *bank, const double *score, Py_ssize_t width, Py_ssize_t banks,
                       Ranked *ranked, Py_ssize_t *starts) {
    memset(starts, 0, (banks + 2) * sizeof *starts);
    for (int writing = 0; writing < 2; writing++) {
        for (Py_ssize_t i = 0; i < width; i++) {
            Ranked one = {score[i], 0.0, bank[i], i};
            Py_ssize_t place = one.score > CLOSED ? banks - 1 - one.bank : banks;
            if (writing) ranked[starts[place]++] = one;
            else starts[place + 1]++;
        }
        for (Py_ssize_t i = 0; !writing && i < banks; i++) starts[i + 1] += starts[i];
    }
    /* Now every entry of `starts` is where its bank ends. */
    for (Py_ssize_t i = 0, begin = 0; i < banks; begin = starts[i++])
        sort_by_score(ranked + begin, starts[i] - begin);
    return banks ? starts[banks - 1] : 0;
}

/* One more than the largest bank; -1 if one is negative. */
static Py_ssize_t count_banks(const int64_t *bank, Py_ssize_t length) {
    int64_t most = 0;
    for (Py_ssize_t i = 0; i < length; i++) {
        if (bank[i] < 0) return -1;
        if (bank[i] > most) most = bank[i];
    }
    return (Py_ssize_t)most + 1;
}

/* The slots of each bank after adjustment (paper, section 3.2), in place; `spare` and `lacking` are
   room for as many numbers. */
static void adjust(int64_t *slots, const int64_t *counts, Py_ssize_t banks, int64_t *spare,
                   int64_t *lacking) {
    int64_t spares = 0, lacks = 0;
    for (Py_ssize_t i = 0; i < banks; i++) {
        spare[i] = slots[i] > counts[i] ? slots[i] - counts[i] : 0;
        lacking[i] = counts[i] > slots[i] ? counts[i] - slots[i] : 0;
        spares += spare[i];
        lacks += lacking[i];
        if (slots[i] > counts[i]) slots[i] = counts[i];
    }
    int64_t to_move = spares < lacks ? spares : lacks;
    for (Py_ssize_t distance = 1; to_move > 0 && distance < banks; distance++) {
        for (int outward = 1; outward >= -1; outward -= 2) {
            for (Py_ssize_t giver = 0; giver < banks; giver++) {
                Py_ssize_t taker = giver + outward * distance;
                if (taker < 0 || taker >= banks) continue;
                int64_t moved = spare[giver] < lacking[taker] ? spare[giver] : lacking[taker];
                spare[giver] -= moved;
                lacking[taker] -= moved;
                slots[taker] += moved;
                to_move -= moved;
            }
        }
    }
}

/* Choose among ranked candidates by the slots of each bank before adjustment; return how many.
   `room` has place for four numbers per bank. */
static Py_ssize_t choose_by_slots(const Ranked *ranked, Py_ssize_t real, const int64_t *slots,
                                  Py_ssize_t banks, int64_t *room, Py_ssize_t *chosen) {
    int64_t *given = room, *counts = room + banks;
    Py_ssize_t filled = 0;
    memcpy(given, slots, banks * sizeof *given);
    memset(counts, 0, banks * sizeof *counts);
    for (Py_ssize_t i = 0; i < real; i++) counts[ranked[i].bank]++;
    adjust(given, counts, banks, counts + banks, counts + 2 * banks);
    for (Py_ssize_t i = 0; i < real; i++)
        if (given[ranked[i].bank]-- > 0) chosen[filled++] = ranked[i].index;
    return filled;
}

static int by_number(const void *left, const void *right) {
    Py_ssize_t a = *(const Py_ssize_t *)left, b = *(const Py_ssize_t *)right;
    return (a > b) - (a < b);
}

/* Choose the k best of ranked candidates after each has been set back by its rank in its bank, by
   bank from the top; return how many there are. */
static Py_ssize_t choose_by_price(Ranked *ranked, Py_ssize_t width, Py_ssize_t k, double handicap,
                                  Py_ssize_t *chosen) {
    Py_ssize_t in_bank = 0, count = 0;
    for (Py_ssize_t i = 0; i < width && k; i++) {
        in_bank = i && ranked[i].bank == ranked[i - 1].bank ? in_bank + 1 : 0;
        double price = ranked[i].price = ranked[i].score - handicap * (double)in_bank;
        if (count == k && !(price > ranked[chosen[k - 1]].price)) continue;
        Py_ssize_t at = count < k ? count++ : k - 1;
        for (; at > 0 && ranked[chosen[at - 1]].price < price; at--) chosen[at] = chosen[at - 1];
        chosen[at] = i;
    }
    qsort(chosen, count, sizeof *chosen, by_number);
    for (Py_ssize_t i = 0; i < count; i++) chosen[i] = ranked[chosen[i]].index;
    return count;
}

/* select_by_slots(bank, score, slots, sentences, indices, taken): fill a beam whose banks have so
   many slots before adjustment; return the widest beam. shape of bank and score: (sentences,
   candidates), of slots: (sentences, banks), of the others: room for as many as all slots. */
static PyObject *select_by_slots(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    (void)self;
    if (nargs != 6) return PyErr_Format(PyExc_TypeError, "6 arguments, not %zd", nargs);
    Py_ssize_t sentences;
    if (read_size(args[3], &sentences)) return NULL;
    Buffers buffers = {.count = 0, .rooms_taken = 0, .failed = 0};
    Array bank = open_array(&buffers, args[0], 'i', 0), score = open_array(&buffers, args[1], 'd', 0);
    Array slots = open_array(&buffers, args[2], 'i', 0);
    Array indices = open_array(&buffers, args[4], 'i', 1), taken = open_array(&buffers, args[5], 'b', 1);
    Py_ssize_t width = sentences > 0 ? bank.length / sentences : 0, widest = 0;
    Py_ssize_t banks = sentences > 0 ? slots.length / sentences : 0;
    int fits = sentences > 0 && bank.length == score.length && bank.length == width * sentences &&
               slots.length == banks * sentences && taken.length == indices.length;
    Py_ssize_t all_banks = fits && !buffers.failed ? count_banks(INTS(bank), bank.length) : -1;
    for (Py_ssize_t i = 0; all_banks > banks && i < bank.length; i++)
        fits = fits && (INTS(bank)[i] < banks || DOUBLES(score)[i] == CLOSED);
    refuse_unless(&buffers, fits && all_banks > 0, "select_by_slots");
    Ranked *ranked = take_room(&buffers, width, sizeof *ranked);
    int64_t *given = take_room(&buffers, 4 * banks, sizeof *given);
    Py_ssize_t *filled = take_room(&buffers, sentences, sizeof *filled);
    Py_ssize_t *chosen = take_room(&buffers, bank.length, sizeof *chosen);
    Py_ssize_t *starts = take_room(&buffers, all_banks + 2, sizeof *starts);
    for (Py_ssize_t s = 0; s < sentences && !buffers.failed; s++) {
        Py_ssize_t first = s * width;
        Py_ssize_t real = rank(INTS(bank) + first, DOUBLES(score) + first, width, all_banks, ranked, starts);
        filled[s] = choose_by_slots(ranked, real, INTS(slots) + s * banks, banks, given, chosen + first);
        if (filled[s] > widest) widest = filled[s];
    }
    refuse_unless(&buffers, indices.length >= widest * sentences, "select_by_slots");
    for (Py_ssize_t s = 0; s < sentences && !buffers.failed; s++) {
        for (Py_ssize_t i = 0; i < widest; i++) {
            INTS(indices)[s * widest + i] = i < filled[s] ? chosen[s * width + i] : 0;
            FLAGS(taken)[s * widest + i] = i < filled[s];
        }
    }
    close_buffers(&buffers);
    return buffers.failed ? NULL : PyLong_FromSsize_t(widest);
}

/* select_by_price(bank, score, sentences, k, handicap, indices, taken): take the k best after each
   has been set back by its rank in its bank, by bank from the top. shape of bank and score:
   (sentences, candidates), of the others: (sentences, min(k, candidates)). */
static PyObject *select_by_price(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    (void)self;
    if (nargs != 7) return PyErr_Format(PyExc_TypeError, "7 arguments, not %zd", nargs);
    Py_ssize_t sentences, k;
    if (read_size(args[2], &sentences) || read_size(args[3], &k)) return NULL;
    double handicap = PyFloat_AsDouble(args[4]);
    if (handicap == -1.0 && PyErr_Occurred()) return NULL;
    Buffers buffers = {.count = 0, .rooms_taken = 0, .failed = 0};
    Array bank = open_array(&buffers, args[0], 'i', 0), score = open_array(&buffers, args[1], 'd', 0);
    Array indices = open_array(&buffers, args[5], 'i', 1), taken = open_array(&buffers, args[6], 'b', 1);
    Py_ssize_t width = sentences > 0 ? bank.length / sentences : 0;
    if (k > width) k = width;
    int fits = sentences > 0 && bank.length == score.length && bank.length == width * sentences &&
               indices.length == sentences * k && taken.length == indices.length;
    Py_ssize_t banks = fits && !buffers.failed ? count_banks(INTS(bank), bank.length) : -1;
    refuse_unless(&buffers, fits && banks > 0, "select_by_price");
    Ranked *ranked = take_room(&buffers, width, sizeof *ranked);
    Py_ssize_t *starts = take_room(&buffers, banks + 2, sizeof *starts);
    Py_ssize_t *chosen = take_room(&buffers, k, sizeof *chosen);
    for (Py_ssize_t s = 0; s < sentences && !buffers.failed; s++) {
        const double *scores = DOUBLES(score) + s * width;
        rank(INTS(bank) + s * width, scores, width, banks, ranked, starts);
        choose_by_price(ranked, width, k, handicap, chosen);
        for (Py_ssize_t i = 0; i < k; i++) {
            INTS(indices)[s * k + i] = chosen[i];
            FLAGS(taken)[s * k + i] = scores[chosen[i]] > CLOSED;
        }
    }
    close_buffers(&buffers);
    if (buffers.failed) return NULL;
    Py_RETURN_NONE;
}

/* --- dropping what fell behind, and the model's mistakes --------------------------------------- */

/* Clear `live` where a hypothesis of a sentence is more than `lag` below the best live one of its
   bank, or, without `bank`, of all; `best` is room for a number per bank. */
static void drop(const double *score, unsigned char *live, const int64_t *bank, Py_ssize_t width,
                 double lag, double *best, Py_ssize_t banks) {
    for (Py_ssize_t i = 0; i < banks; i++) best[i] = CLOSED;
    for (Py_ssize_t i = 0; i < width; i++) {
        int64_t of = bank ? bank[i] : 0;
        if (live[i] && score[i] > best[of]) best[of] = score[i];
    }
    for (Py_ssize_t i = 0; i < width; i++) live[i] &= score[i] >= best[bank ? bank[i] : 0] - lag;
}

/* drop_behind(score, live, bank, sentences, lag): clear `live` where a hypothesis is more than
   `lag` below the best live one of its bank; without `bank`, of its sentence. */
static PyObject *drop_behind(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    (void)self;
    if (nargs != 5) return PyErr_Format(PyExc_TypeError, "5 arguments, not %zd", nargs);
    Py_ssize_t sentences;
    if (read_size(args[3], &sentences)) return NULL;
    double lag = PyFloat_AsDouble(args[4]);
    if (lag == -1.0 && PyErr_Occurred()) return NULL;
    Buffers buffers = {.count = 0, .rooms_taken = 0, .failed = 0};
    Array score = open_array(&buffers, args[0], 'd', 0), live = open_array(&buffers, args[1], 'b', 1);
    Array bank = open_array(&buffers, args[2], 'i', 0);
    Py_ssize_t width = sentences > 0 ? score.length / sentences : 0, banks = 1;
    int fits = sentences > 0 && score.length == live.length && score.length == width * sentences &&
               (!bank.data || bank.length == score.length);
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

/* Return whether the answer of a model is what the protocol says; bans are for each row. */
static int is_answer_sound(const Array *scores, const Array *ids, const Array *asked, const Array *ban,
                           Py_ssize_t rows, Py_ssize_t eos, Py_ssize_t vocabulary, double rounding) {
    Py_ssize_t top = rows ? ids->length / rows : 0, banned = rows ? ban->length / rows : 0;
    if (scores->length != ids->length || rows * top != ids->length || rows * banned != ban->length)
        return 0;
    for (Py_ssize_t i = 0; i < asked->length; i++)
        if (!(score_at(asked, i) <= rounding)) return 0;
    for (Py_ssize_t row = 0; row < rows; row++) {
        double before = rounding;
        for (Py_ssize_t i = row * top; i < (row + 1) * top; i++) {
            double score = score_at(scores, i);
            int64_t id = INTS(*ids)[i];
            if (!(score <= before && id >= 0 && id < vocabulary && (id != eos || score == CLOSED)))
                return 0;
            before = score;
            for (Py_ssize_t b = row * banned; b < (row + 1) * banned; b++)
                if (INTS(*ban)[b] == id && score != CLOSED) return 0;
        }
    }
    return 1;
}

/* is_sound(top_scores, top_ids, ask_scores, ban, eos, vocabulary, rounding): return whether the
   answer of a model is what the protocol says; what is wrong with it, the caller finds out. */
static PyObject *is_sound(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    (void)self;
    if (nargs != 7) return PyErr_Format(PyExc_TypeError, "7 arguments, not %zd", nargs);
    Py_ssize_t eos, vocabulary;
    if (read_size(args[4], &eos) || read_size(args[5], &vocabulary)) return NULL;
    double rounding = PyFloat_AsDouble(args[6]);
    if (rounding == -1.0 && PyErr_Occurred()) return NULL;
    Buffers buffers = {.count = 0, .rooms_taken = 0, .failed = 0};
    Array scores = open_array(&buffers, args[0], 's', 0), ids = open_array(&buffers, args[1], 'i', 0);
    Array asked = open_array(&buffers, args[2], 's', 0), ban = open_array(&buffers, args[3], 'i', 0);
    int sound = !buffers.failed && buffers.views[1].ndim == 2;
    if (sound) {
        Py_ssize_t rows = buffers.views[1].shape[0];
        sound = is_answer_sound(&scores, &ids, &asked, &ban, rows, eos, vocabulary, rounding);
    }
    close_buffers(&buffers);
    return buffers.failed ? NULL : PyBool_FromLong(sound);
}

/* --- a whole step ------------------------------------------------------------------------------ */

/* ask_live(tables, eos, live, token, row, node, seen, tokens, parents, ask, targets): write what
   the model is asked at a step: of each live slot its token and row, the end and, if there are
   tables, the tokens that start or continue an unmet phrase, and where those lead. Return how many
   rows there are, and how many such tokens each has at most. */
static PyObject *ask_live(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    (void)self;
    if (nargs != 11) return PyErr_Format(PyExc_TypeError, "11 arguments, not %zd", nargs);
    const Tables *t = NULL;
    Py_ssize_t eos, rows = 0, width = 0;
    if ((args[0] != Py_None && !(t = read_tables(args[0]))) || read_size(args[1], &eos)) return NULL;
    Buffers buffers = {.count = 0, .rooms_taken = 0, .failed = 0};
    Array live = open_array(&buffers, args[2], 'b', 0), token = open_array(&buffers, args[3], 'i', 0);
    Array row = open_array(&buffers, args[4], 'i', 0), node = open_array(&buffers, args[5], 'i', 0);
    Array seen = open_array(&buffers, args[6], 'i', 0);
    Array tokens = open_array(&buffers, args[7], 'i', 1), parents = open_array(&buffers, args[8], 'i', 1);
    Array ask = open_array(&buffers, args[9], 'i', 1), targets = open_array(&buffers, args[10], 'i', 1);
    Py_ssize_t all = live.length, listed = t ? t->asked : 0;
    int fits = token.length == all && row.length == all && tokens.length >= all &&
               parents.length >= all && ask.length >= all * (1 + listed) &&
               targets.length >= all * listed && (!t || (node.length == all && seen.length == all));
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

/* Numbers that a step is given in one array. */
enum { LOWEST, ROUNDING, LENGTH, LAG, HANDICAP, LOWEST_LEARNT, WEIGHT, CONTINUES, AT_THE_START, STEP,
       NUMBERS };
enum { WORD_ENDS = 1, DROP = 2, BY_WORTH = 4 };

/* Everything that a step reads, its room, and what it writes. */
typedef struct {
    const Tables *t; /* NULL: plain search */
    Proposals p;
    Standing s;
    Collector c;
    Array bank, sizes, slots, ask;
    Array sums, counts, kinds, expected, prices, drafts; /* what `search.future_cost` has learnt */
    Parts parts;
    Array out_ints, out_states, out_scores, out_flags;
    const double *number;
    Py_ssize_t flags, eos, vocabulary;
    Candidate *found;
    Py_ssize_t *ends, *filled, *chosen;
    int64_t *states; /* columns of all candidates, as `branch` writes them */
    double *worth, *unit, *learnt, *costs;
} Step;

/* Open what constraints add to a step: where slots stand, what was asked, what is expected. */
static void open_constraints(Buffers *buffers, PyObject *const *args, Step *x) {
    Proposals *p = &x->p;
    Py_ssize_t all = p->log_prob.length, sentences = p->sentences;
    Array *standing[] = {&x->s.node, &x->s.met, &x->s.met_tokens, &x->s.seen, &x->s.seen_tokens, &x->bank,
                         &x->sizes, &x->ask, &x->c.targets, &x->slots};
    for (int i = 0; i < 10; i++) *standing[i] = open_array(buffers, args[i], 'i', 0);
    x->sums = open_array(buffers, args[10], 'd', 1);
    x->counts = open_array(buffers, args[11], 'd', 1);
    x->kinds = open_array(buffers, args[12], 'i', 0);
    x->expected = open_array(buffers, args[13], 'd', 0);
    x->prices = open_array(buffers, args[14], 'd', 0);
    x->drafts = open_array(buffers, args[15], 'i', 0);
    x->parts.sentences = x->sums.data ? sentences : 0;
    if (x->sums.data) open_parts(buffers, args + 16, &x->parts);
    x->c.asked = p->answers - 1;
    x->c.stride = p->answers;
    x->c.tokens = INTS(x->ask) + 1;
    x->c.word_ends = (x->flags & WORD_ENDS) && x->t->table[BOUNDARY].length;
    int fits = x->s.node.length == all && x->s.met.length == all && x->s.met_tokens.length == all &&
               x->s.seen.length == all && x->s.seen_tokens.length == all && x->bank.length == all &&
               x->sizes.length == sentences && x->ask.length >= p->rows * p->answers &&
               x->c.targets.length >= p->rows * x->c.asked && x->slots.length % sentences == 0;
    if (x->sums.data)
        fits = fits && x->sums.length == 2 * sentences && x->counts.length == 2 * sentences &&
               x->expected.length == sentences && x->drafts.length == sentences &&
               (!x->prices.data || x->prices.length == x->parts.parts * sentences);
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

/* Learn from what the model answered for asked tokens, as `sum_by_kind`, and find what each part
   is expected to cost. */
static void expect_costs(Step *x) {
    const Proposals *p = &x->p;
    const double *number = x->number;
    double *sums = DOUBLES(x->sums), *counts = DOUBLES(x->counts), *learnt = x->learnt;
    for (Py_ssize_t slot = 0; slot < p->log_prob.length; slot++) {
        int64_t row = INTS(p->row)[slot];
        for (Py_ssize_t i = 0; i < x->c.asked && FLAGS(p->live)[slot]; i++) {
            if (x->c.tokens[row * x->c.stride + i] == PAD) continue;
            double score = answer_at(p, row, 1 + i);
            int64_t kind = INTS(x->kinds)[INTS(x->c.targets)[row * x->c.asked + i]];
            kind += 2 * (slot / p->slots);
            learnt[kind] += score > number[LOWEST_LEARNT] ? score : number[LOWEST_LEARNT];
            learnt[2 * p->sentences + kind] += 1.0;
        }
    }
    for (Py_ssize_t i = 0; i < 2 * p->sentences; i++) {
        sums[i] += learnt[i];
        counts[i] += learnt[2 * p->sentences + i];
    }
    for (Py_ssize_t s = 0; s < p->sentences; s++) {
        double mean = sums[2 * s] / (counts[2 * s] > 1.0 ? counts[2 * s] : 1.0);
        double after = (sums[2 * s + 1] + number[CONTINUES] * mean) / (counts[2 * s + 1] + number[WEIGHT]);
        double progress = (number[STEP] + 1.0) / DOUBLES(x->expected)[s];
        double rising = (1.0 - number[AT_THE_START]) * (progress < 1.0 ? progress : 1.0);
        x->unit[s] = -mean > 1.0 ? -mean : 1.0;
        DOUBLES(x->parts.after)[s] = after;
        for (Py_ssize_t part = 0; part < x->parts.parts; part++) {
            Py_ssize_t at = part * p->sentences + s;
            double first = x->prices.data && INTS(x->drafts)[s] > 0 ? DOUBLES(x->prices)[at]
                                                                    : mean * (number[AT_THE_START] + rising);
            DOUBLES(x->parts.whole)[at] = first + after * (DOUBLES(x->parts.sizes)[at] - 1.0);
        }
    }
}

/* Choose the new beams among the candidates. */
static void choose(Buffers *buffers, Step *x) {
    Py_ssize_t sentences = x->p.sentences, all = x->ends[sentences], k = x->c.k;
    Py_ssize_t given = x->slots.length / sentences;
    int64_t *bank = x->states + 7 * all;
    double *compared = x->worth + all;
    for (Py_ssize_t i = 0; i < all; i++) {
        x->states[i] = x->found[i].slot;
        x->states[2 * all + i] = x->found[i].node;
        branch(x->t, &x->s, &x->found[i], x->states + i, all);
    }
    if (x->sums.data) expect_costs(x);
    for (Py_ssize_t s = 0; s < sentences; s++) {
        for (Py_ssize_t i = x->ends[s]; i < x->ends[s + 1]; i++) {
            uint64_t seen = (uint64_t)x->states[5 * all + i];
            double cost = 0.0;
            if (x->sums.data)
                cost = cost_to_come(&x->parts, s, x->found[i].node, seen, ~seen, x->costs);
            x->worth[i] = x->sums.data ? x->found[i].score + cost : x->found[i].score;
            compared[i] = x->sums.data ? x->worth[i] / x->unit[s] : x->worth[i];
        }
    }
    Py_ssize_t banks = count_banks(bank, all);
    refuse_unless(buffers, banks > 0 && (!x->slots.data || banks <= given), "advance");
    Ranked *ranked = take_room(buffers, all, sizeof *ranked);
    Py_ssize_t *starts = take_room(buffers, banks + 2, sizeof *starts);
    int64_t *room = take_room(buffers, 4 * given, sizeof *room);
    for (Py_ssize_t s = 0; s < sentences && !buffers->failed; s++) {
        Py_ssize_t first = x->ends[s], count = x->ends[s + 1] - first, *chosen = x->chosen + s * k;
        Py_ssize_t real = rank(bank + first, compared + first, count, banks, ranked, starts);
        x->filled[s] = x->slots.data
            ? choose_by_slots(ranked, real, INTS(x->slots) + s * given, given, room, chosen)
            : choose_by_price(ranked, real, k, x->number[HANDICAP], chosen);
    }
}

/* Put a chosen candidate on its beam; return whether it has just ended. */
static int put(Step *x, Py_ssize_t sentence, const Candidate *one, Py_ssize_t to, Py_ssize_t size) {
    int before = FLAGS(x->p.finished)[one->slot], ended = one->token == x->eos;
    int newly = ended && !before;
    INTS(x->out_ints)[to] = one->token;
    INTS(x->out_ints)[size + to] = one->slot - sentence * x->p.slots;
    INTS(x->out_ints)[2 * size + to] = INTS(x->p.row)[one->slot];
    DOUBLES(x->out_scores)[to] = before ? DOUBLES(x->p.log_prob)[one->slot] : one->score;
    DOUBLES(x->out_scores)[size + to] = newly ? one->score / x->number[LENGTH] : one->score;
    FLAGS(x->out_flags)[to] = (unsigned char)ended;
    FLAGS(x->out_flags)[size + to] = (unsigned char)!ended;
    FLAGS(x->out_flags)[2 * size + to] = (unsigned char)newly;
    if (!x->t) return newly;
    Py_ssize_t all = x->ends[x->p.sentences], from = one - x->found;
    for (int i = 0; i < 6; i++) INTS(x->out_states)[i * size + to] = x->states[(2 + i) * all + from];
    DOUBLES(x->out_scores)[2 * size + to] = x->worth[from];
    return newly;
}

/* Write the new beams; return whether anything has just ended. */
static int write_beams(Step *x, Py_ssize_t width) {
    Py_ssize_t size = x->p.sentences * width;
    int newly = 0;
    for (Py_ssize_t s = 0; s < x->p.sentences; s++) {
        for (Py_ssize_t i = 0; i < width; i++) {
            Py_ssize_t to = s * width + i;
            if (i < x->filled[s]) {
                const Candidate *one = x->found + x->ends[s] + x->chosen[s * x->c.k + i];
                newly |= put(x, s, one, to, size);
                continue;
            }
            for (int j = 0; j < 3; j++) {
                INTS(x->out_ints)[j * size + to] = 0;
                DOUBLES(x->out_scores)[j * size + to] = CLOSED;
                FLAGS(x->out_flags)[j * size + to] = 0;
            }
            for (int j = 0; x->t && j < 6; j++) INTS(x->out_states)[j * size + to] = 0;
        }
    }
    return newly;
}

/* Drop what lags behind. */
static void drop_from_beams(Buffers *buffers, Step *x, Py_ssize_t width) {
    Py_ssize_t size = x->p.sentences * width, banks = 1;
    const int64_t *bank = x->t && !(x->flags & BY_WORTH) ? INTS(x->out_states) + 5 * size : NULL;
    const double *score = DOUBLES(x->out_scores) + (x->flags & BY_WORTH ? 2 : 1) * size;
    if (bank) banks = count_banks(bank, size);
    double *best = take_room(buffers, banks, sizeof *best);
    for (Py_ssize_t at = 0; at < size && !buffers->failed; at += width)
        drop(score + at, FLAGS(x->out_flags) + size + at, bank ? bank + at : NULL, width,
             x->number[LAG], best, banks);
}

/* Find the candidates of all sentences; of plain search all are chosen. */
static void find_candidates(Step *x) {
    x->ends[0] = 0;
    for (Py_ssize_t s = 0; s < x->p.sentences; s++) {
        Candidate *found = x->found + x->ends[s];
        if (x->t) {
            x->ends[s + 1] = x->ends[s] + collect_one(&x->c, s, found);
            continue;
        }
        Py_ssize_t count = x->filled[s] = k_best(&x->p, s, x->c.k, x->c.best);
        for (Py_ssize_t i = 0; i < count; i++) {
            Option one = x->c.best[i];
            found[i] = (Candidate){one.score, one.slot, option_token(&x->p, one.slot, one.option), 0};
            x->chosen[s * x->c.k + i] = i;
        }
        x->ends[s + 1] = x->ends[s] + count;
    }
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
    if (nargs != 39) return PyErr_Format(PyExc_TypeError, "39 arguments, not %zd", nargs);
    Step x;
    memset(&x, 0, sizeof x);
    if (args[0] != Py_None && !(x.t = read_tables(args[0]))) return NULL;
    if (read_size(args[1], &x.c.k) || read_size(args[2], &x.flags) || read_size(args[3], &x.eos) ||
        read_size(args[4], &x.vocabulary))
        return NULL;
    Buffers buffers = {.count = 0, .rooms_taken = 0, .failed = 0};
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
    x.out_ints = open_array(&buffers, args[35], 'i', 1);
    x.out_states = open_array(&buffers, args[36], 'i', 1);
    x.out_scores = open_array(&buffers, args[37], 'd', 1);
    x.out_flags = open_array(&buffers, args[38], 'b', 1);
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

#define FUNCTION(name, function) {name, (PyCFunction)(void (*)(void))function, METH_FASTCALL, NULL}

static PyMethodDef functions[] = {
    FUNCTION("tables", make_tables),
    FUNCTION("ask", ask),
    FUNCTION("best", best),
    FUNCTION("collect", collect),
    FUNCTION("sum_by_kind", sum_by_kind),
    FUNCTION("add_costs", add_costs),
    FUNCTION("select_by_slots", select_by_slots),
    FUNCTION("select_by_price", select_by_price),
    FUNCTION("drop_behind", drop_behind),
    FUNCTION("is_sound", is_sound),
    FUNCTION("ask_live", ask_live),
    FUNCTION("advance", advance),
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_kernel", NULL, -1, functions,
                                    NULL, NULL, NULL, NULL};

#ifndef SOURCE_CHECKSUM
#define SOURCE_CHECKSUM 0u
#endif

PyMODINIT_FUNC PyInit__kernel(void) {
    PyObject *created = PyModule_Create(&module);
    PyObject *checksum = PyLong_FromUnsignedLong(SOURCE_CHECKSUM);
    if (created != NULL && checksum != NULL && PyModule_AddObjectRef(created, "CHECKSUM", checksum)) {
        Py_DECREF(created);
        created = NULL;
    }
    Py_XDECREF(checksum);
    return created;
}
