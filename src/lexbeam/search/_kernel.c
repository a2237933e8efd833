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
#define MOST_BUFFERS 32
#define CLOSED (-INFINITY)

/* --- arrays from Python ----------------------------------------------------------------------- */

typedef struct {
    void *data;
    Py_ssize_t length; /* number of entries */
    int single;        /* scores only: float32, not float64 */
} Array;

typedef struct {
    Py_buffer views[MOST_BUFFERS];
    int count;
    int failed;
} Buffers;

static void close_buffers(Buffers *buffers) {
    for (int i = 0; i < buffers->count; i++) PyBuffer_Release(&buffers->views[i]);
    buffers->count = 0;
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

/* ask(tables, node, seen, stages, hold, tokens, targets): write the tokens that start or continue
   an unmet phrase, and where they lead, side by side; return how many each hypothesis has at most.
   `tokens` and `targets` have room for all that is listed. */
static PyObject *ask(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    (void)self;
    if (nargs != 7) return PyErr_Format(PyExc_TypeError, "ask takes 7 arguments, not %zd", nargs);
    const Tables *t = read_tables(args[0]);
    if (t == NULL) return NULL;
    Buffers buffers = {.count = 0, .failed = 0};
    Array node = open_array(&buffers, args[1], 'i', 0), seen = open_array(&buffers, args[2], 'i', 0);
    Array stages = open_array(&buffers, args[3], 'i', 0);
    Array hold = open_array(&buffers, args[4], 'b', 0);
    Array tokens = open_array(&buffers, args[5], 'i', 1);
    Array targets = open_array(&buffers, args[6], 'i', 1);
    Py_ssize_t rows = node.length, listed = t->asked;
    int fits = seen.length == rows && tokens.length >= rows * listed &&
               targets.length >= rows * listed && (!stages.data || stages.length == rows) &&
               (!hold.data || hold.length == rows);
    unsigned char *useful = NULL;
    if (!refuse_unless(&buffers, fits, "ask")) {
        useful = malloc(rows * listed + 1);
        if (useful == NULL) {
            PyErr_NoMemory();
            buffers.failed = 1;
        }
    }
    Py_ssize_t width = 0;
    for (Py_ssize_t row = 0; row < rows && !buffers.failed; row++) {
        uint64_t unmet = ~BITS(seen)[row] & (stages.data ? BITS(stages)[row] : ~(uint64_t)0);
        Py_ssize_t at = INTS(node)[row] * listed, count = 0;
        for (Py_ssize_t i = 0; i < listed; i++) {
            int64_t token = INTS(t->table[ASK_TOKENS])[at + i];
            int64_t target = INTS(t->table[ASK_TARGETS])[at + i];
            int use = (BITS(t->table[SERVES])[target] & unmet) != 0;
            if (use && hold.data && FLAGS(hold)[row] && t->table[BOUNDARY].length)
                use = !FLAGS(t->table[BOUNDARY])[token < 0 ? token + t->table[BOUNDARY].length : token];
            useful[row * listed + i] = (unsigned char)use;
            count += use;
        }
        if (count > width) width = count;
    }
    for (Py_ssize_t row = 0; row < rows && !buffers.failed; row++) {
        Py_ssize_t at = INTS(node)[row] * listed, to = row * width, end = to + width;
        for (Py_ssize_t i = 0; i < listed; i++) {
            if (!useful[row * listed + i]) continue;
            INTS(tokens)[to] = INTS(t->table[ASK_TOKENS])[at + i];
            INTS(targets)[to++] = INTS(t->table[ASK_TARGETS])[at + i];
        }
        for (; to < end; to++) {
            INTS(tokens)[to] = PAD;
            INTS(targets)[to] = 0;
        }
    }
    free(useful);
    close_buffers(&buffers);
    return buffers.failed ? NULL : PyLong_FromSsize_t(width);
}

/* --- the model's answer ------------------------------------------------------------------------ */

/* The hypotheses of a batch and what the model says of their continuations. */
typedef struct {
    Array log_prob, score, live, finished, first;
    Array top_scores, top_ids, ask_scores, may_end;
    Array row; /* written: the model's row of each slot */
    Py_ssize_t sentences, slots, rows, top, answers; /* answers: columns of ask_scores */
} Proposals;

static int open_proposals(Buffers *buffers, PyObject *const *args, Proposals *p) {
    p->log_prob = open_array(buffers, args[0], 'd', 0);
    p->score = open_array(buffers, args[1], 'd', 0);
    p->live = open_array(buffers, args[2], 'b', 0);
    p->finished = open_array(buffers, args[3], 'b', 0);
    p->first = open_array(buffers, args[4], 'i', 0);
    p->top_scores = open_array(buffers, args[5], 's', 0);
    p->top_ids = open_array(buffers, args[6], 'i', 0);
    p->ask_scores = open_array(buffers, args[7], 's', 0);
    p->may_end = open_array(buffers, args[8], 'b', 0);
    p->row = open_array(buffers, args[9], 'i', 1);
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
               p->live.length == all && p->finished.length == all && p->row.length == all &&
               p->top_scores.length == p->rows * p->top && p->top_ids.length == p->top_scores.length &&
               p->ask_scores.length == p->rows * p->answers && p->answers > 0 &&
               (!p->may_end.data || p->may_end.length == p->rows);
    if (refuse_unless(buffers, fits, "proposals")) return -1;
    int64_t row = 0;
    for (Py_ssize_t slot = 0; slot < all; slot++)
        INTS(p->row)[slot] = FLAGS(p->live)[slot] ? row++ : 0;
    return 0;
}

/* What an option of a slot scores; option 0 is the end (or what is forced), or to stay finished. */
static double option_score(const Proposals *p, Py_ssize_t slot, Py_ssize_t option) {
    if (!FLAGS(p->live)[slot])
        return option == 0 && FLAGS(p->finished)[slot] ? DOUBLES(p->score)[slot] : CLOSED;
    int64_t row = INTS(p->row)[slot];
    double so_far = DOUBLES(p->log_prob)[slot];
    if (option) return so_far + score_at(&p->top_scores, row * p->top + option - 1);
    if (p->may_end.data && !FLAGS(p->may_end)[row]) return CLOSED;
    return so_far + score_at(&p->ask_scores, row * p->answers);
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
    Buffers buffers = {.count = 0, .failed = 0};
    Proposals p;
    Option *found = NULL;
    Py_ssize_t *counts = NULL, width = 1;
    if (open_proposals(&buffers, args + 1, &p)) goto done;
    Array score = open_array(&buffers, args[11], 'd', 1), slot = open_array(&buffers, args[12], 'i', 1);
    Array token = open_array(&buffers, args[13], 'i', 1);
    Py_ssize_t room = p.sentences * k;
    int fits = k > 0 && score.length >= room && slot.length >= room && token.length >= room;
    if (refuse_unless(&buffers, fits, "best")) goto done;
    found = malloc(room * sizeof *found);
    counts = malloc(p.sentences * sizeof *counts);
    if (found == NULL || counts == NULL) {
        PyErr_NoMemory();
        buffers.failed = 1;
        goto done;
    }
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
    free(found);
    free(counts);
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
    Array tokens, targets; /* what was asked. shape: (rows, asked) */
    Array sizes; /* the beam of each sentence, if not k for all */
    Py_ssize_t k, asked;
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
            int64_t token = INTS(c->tokens)[row * c->asked + i];
            double score = DOUBLES(p->log_prob)[slot] + score_at(&p->ask_scores, row * p->answers + 1 + i);
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
    c->tokens = open_array(buffers, args[6], 'i', 0);
    c->targets = open_array(buffers, args[7], 'i', 0);
    c->asked = p->rows ? c->tokens.length / p->rows : 0;
    Py_ssize_t all = p->log_prob.length;
    int fits = c->k > 0 && s->node.length == all && s->met.length == all &&
               s->met_tokens.length == all && s->seen.length == all &&
               s->seen_tokens.length == all && (!s->stages.data || s->stages.length == all) &&
               c->tokens.length == p->rows * c->asked && c->targets.length == c->tokens.length &&
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
    Buffers buffers = {.count = 0, .failed = 0};
    Proposals p;
    Standing s;
    c.p = &p;
    c.s = &s;
    Candidate *found = NULL;
    Py_ssize_t *ends = NULL, width = 1;
    if (open_proposals(&buffers, args + 3, &p) || open_collector(&buffers, args + 13, &c, &s, &p))
        goto done;
    Array score = open_array(&buffers, args[21], 'd', 1), out = open_array(&buffers, args[22], 'i', 1);
    c.sizes = open_array(&buffers, args[23], 'i', 0);
    Py_ssize_t room = score.length, most = c.k + p.slots * (2 + c.asked);
    int fits = out.length == 8 * room && (!c.sizes.data || c.sizes.length == p.sentences);
    for (Py_ssize_t i = 0; fits && !buffers.failed && c.sizes.data && i < p.sentences; i++)
        fits = INTS(c.sizes)[i] > 0 && INTS(c.sizes)[i] <= c.k;
    if (refuse_unless(&buffers, fits, "collect")) goto done;
    found = malloc((p.sentences * most + 1) * sizeof *found);
    ends = malloc((p.sentences + 1) * sizeof *ends);
    c.best = malloc(c.k * sizeof *c.best);
    c.among = malloc(p.slots * (1 + p.top) + 1);
    if (found == NULL || ends == NULL || c.best == NULL || c.among == NULL) {
        PyErr_NoMemory();
        buffers.failed = 1;
        goto done;
    }
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
    free(found);
    free(ends);
    free(c.best);
    free(c.among);
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
    Buffers buffers = {.count = 0, .failed = 0};
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
    Buffers buffers = {.count = 0, .failed = 0};
    Parts p;
    p.whole = open_array(&buffers, args[0], 'd', 0);
    p.after = open_array(&buffers, args[1], 'd', 0);
    p.reached = open_array(&buffers, args[2], 'i', 0);
    p.sizes = open_array(&buffers, args[3], 'd', 0);
    p.missing = open_array(&buffers, args[4], 'i', 0);
    p.wanted = open_array(&buffers, args[5], 'i', 0);
    p.needs = open_array(&buffers, args[6], 'i', 0);
    Array node = open_array(&buffers, args[7], 'i', 0), seen = open_array(&buffers, args[8], 'i', 0);
    Array stages = open_array(&buffers, args[9], 'i', 0);
    Array score = open_array(&buffers, args[10], 'd', 0), out = open_array(&buffers, args[11], 'd', 1);
    p.sentences = p.after.length;
    p.parts = p.sentences ? p.whole.length / p.sentences : 0;
    Py_ssize_t width = p.sentences ? score.length / p.sentences : 0;
    int fits = p.whole.length == p.parts * p.sentences && p.reached.length == p.whole.length &&
               p.sizes.length == p.whole.length && p.missing.length == p.wanted.length &&
               (!p.needs.data || p.needs.length == p.missing.length) &&
               score.length == width * p.sentences && out.length == score.length &&
               node.length == score.length && seen.length == score.length &&
               (!stages.data || stages.length == score.length);
    double *costs = NULL;
    if (!refuse_unless(&buffers, fits, "add_costs")) {
        costs = malloc((p.parts + 1) * sizeof *costs);
        if (costs == NULL) {
            PyErr_NoMemory();
            buffers.failed = 1;
        }
    }
    for (Py_ssize_t i = 0; i < score.length && !buffers.failed; i++) {
        uint64_t unmet = ~BITS(seen)[i] & (stages.data ? BITS(stages)[i] : ~(uint64_t)0);
        double cost = cost_to_come(&p, i / width, INTS(node)[i], BITS(seen)[i], unmet, costs);
        DOUBLES(out)[i] = DOUBLES(score)[i] + cost;
    }
    free(costs);
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
static Py_ssize_t rank(const Array *bank, const Array *score, Py_ssize_t first, Py_ssize_t width,
                       Py_ssize_t banks, Ranked *ranked, Py_ssize_t *starts) {
    memset(starts, 0, (banks + 2) * sizeof *starts);
    for (int writing = 0; writing < 2; writing++) {
        for (Py_ssize_t i = 0; i < width; i++) {
            Ranked one = {DOUBLES(*score)[first + i], 0.0, INTS(*bank)[first + i], i};
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
static Py_ssize_t count_banks(const Array *bank) {
    int64_t most = 0;
    for (Py_ssize_t i = 0; i < bank->length; i++) {
        if (INTS(*bank)[i] < 0) return -1;
        if (INTS(*bank)[i] > most) most = INTS(*bank)[i];
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

/* select_by_slots(bank, score, slots, sentences, indices, taken): fill a beam whose banks have so
   many slots before adjustment; return the widest beam. shape of bank and score: (sentences,
   candidates), of slots: (sentences, banks), of the others: room for as many as all slots. */
static PyObject *select_by_slots(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    (void)self;
    if (nargs != 6) return PyErr_Format(PyExc_TypeError, "6 arguments, not %zd", nargs);
    Py_ssize_t sentences;
    if (read_size(args[3], &sentences)) return NULL;
    Buffers buffers = {.count = 0, .failed = 0};
    Array bank = open_array(&buffers, args[0], 'i', 0), score = open_array(&buffers, args[1], 'd', 0);
    Array slots = open_array(&buffers, args[2], 'i', 0);
    Array indices = open_array(&buffers, args[4], 'i', 1), taken = open_array(&buffers, args[5], 'b', 1);
    Py_ssize_t width = sentences > 0 ? bank.length / sentences : 0, widest = 0;
    Py_ssize_t banks = sentences > 0 ? slots.length / sentences : 0;
    int fits = sentences > 0 && bank.length == score.length && bank.length == width * sentences &&
               slots.length == banks * sentences && taken.length == indices.length;
    Py_ssize_t all_banks = fits && !buffers.failed ? count_banks(&bank) : -1;
    for (Py_ssize_t i = 0; all_banks > banks && i < bank.length; i++)
        fits = fits && (INTS(bank)[i] < banks || DOUBLES(score)[i] == CLOSED);
    if (refuse_unless(&buffers, fits && all_banks > 0, "select_by_slots")) {
        close_buffers(&buffers);
        return NULL;
    }
    Ranked *ranked = malloc((width + 1) * sizeof *ranked);
    int64_t *given = malloc((4 * banks + 1) * sizeof *given);
    Py_ssize_t *filled = calloc(sentences, sizeof *filled);
    Py_ssize_t *chosen = malloc((bank.length + 1) * sizeof *chosen);
    Py_ssize_t *starts = malloc((all_banks + 2) * sizeof *starts);
    if (!ranked || !given || !filled || !chosen || !starts) {
        PyErr_NoMemory();
        buffers.failed = 1;
    }
    int64_t *counts = given + banks;
    for (Py_ssize_t s = 0; s < sentences && !buffers.failed; s++) {
        Py_ssize_t real = rank(&bank, &score, s * width, width, all_banks, ranked, starts);
        memcpy(given, INTS(slots) + s * banks, banks * sizeof *given);
        memset(counts, 0, banks * sizeof *counts);
        for (Py_ssize_t i = 0; i < real; i++) counts[ranked[i].bank]++;
        adjust(given, counts, banks, counts + banks, counts + 2 * banks);
        for (Py_ssize_t i = 0; i < real; i++)
            if (given[ranked[i].bank]-- > 0) chosen[s * width + filled[s]++] = ranked[i].index;
        if (filled[s] > widest) widest = filled[s];
    }
    if (!buffers.failed) refuse_unless(&buffers, indices.length >= widest * sentences, "select_by_slots");
    for (Py_ssize_t s = 0; s < sentences && !buffers.failed; s++) {
        for (Py_ssize_t i = 0; i < widest; i++) {
            INTS(indices)[s * widest + i] = i < filled[s] ? chosen[s * width + i] : 0;
            FLAGS(taken)[s * widest + i] = i < filled[s];
        }
    }
    free(ranked);
    free(given);
    free(filled);
    free(chosen);
    free(starts);
    close_buffers(&buffers);
    return buffers.failed ? NULL : PyLong_FromSsize_t(widest);
}

static int by_number(const void *left, const void *right) {
    Py_ssize_t a = *(const Py_ssize_t *)left, b = *(const Py_ssize_t *)right;
    return (a > b) - (a < b);
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
    Buffers buffers = {.count = 0, .failed = 0};
    Array bank = open_array(&buffers, args[0], 'i', 0), score = open_array(&buffers, args[1], 'd', 0);
    Array indices = open_array(&buffers, args[5], 'i', 1), taken = open_array(&buffers, args[6], 'b', 1);
    Py_ssize_t width = sentences > 0 ? bank.length / sentences : 0;
    if (k > width) k = width;
    int fits = sentences > 0 && bank.length == score.length && bank.length == width * sentences &&
               indices.length == sentences * k && taken.length == indices.length;
    Py_ssize_t banks = fits && !buffers.failed ? count_banks(&bank) : -1, *starts = NULL, *best = NULL;
    Ranked *ranked = NULL;
    if (!refuse_unless(&buffers, fits && banks > 0, "select_by_price")) {
        ranked = malloc((width + 1) * sizeof *ranked);
        starts = malloc((banks + 2) * sizeof *starts);
        best = malloc((k + 1) * sizeof *best);
        if (!ranked || !starts || !best) {
            PyErr_NoMemory();
            buffers.failed = 1;
        }
    }
    for (Py_ssize_t s = 0; s < sentences && !buffers.failed; s++) {
        rank(&bank, &score, s * width, width, banks, ranked, starts);
        Py_ssize_t in_bank = 0, count = 0;
        for (Py_ssize_t i = 0; i < width; i++) {
            in_bank = i && ranked[i].bank == ranked[i - 1].bank ? in_bank + 1 : 0;
            double price = ranked[i].price = ranked[i].score - handicap * (double)in_bank;
            if (count == k && !(k && price > ranked[best[k - 1]].price)) continue;
            Py_ssize_t at = count < k ? count++ : k - 1;
            for (; at > 0 && ranked[best[at - 1]].price < price; at--) best[at] = best[at - 1];
            best[at] = i;
        }
        qsort(best, k, sizeof *best, by_number);
        for (Py_ssize_t i = 0; i < k; i++) {
            INTS(indices)[s * k + i] = ranked[best[i]].index;
            FLAGS(taken)[s * k + i] = ranked[best[i]].score > CLOSED;
        }
    }
    free(starts);
    free(best);
    free(ranked);
    close_buffers(&buffers);
    if (buffers.failed) return NULL;
    Py_RETURN_NONE;
}

/* --- dropping what fell behind, and the model's mistakes --------------------------------------- */

/* drop_behind(score, live, bank, sentences, lag): clear `live` where a hypothesis is more than
   `lag` below the best live one of its bank; without `bank`, of its sentence. */
static PyObject *drop_behind(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    (void)self;
    if (nargs != 5) return PyErr_Format(PyExc_TypeError, "5 arguments, not %zd", nargs);
    Py_ssize_t sentences;
    if (read_size(args[3], &sentences)) return NULL;
    double lag = PyFloat_AsDouble(args[4]);
    if (lag == -1.0 && PyErr_Occurred()) return NULL;
    Buffers buffers = {.count = 0, .failed = 0};
    Array score = open_array(&buffers, args[0], 'd', 0), live = open_array(&buffers, args[1], 'b', 1);
    Array bank = open_array(&buffers, args[2], 'i', 0);
    Py_ssize_t width = sentences > 0 ? score.length / sentences : 0;
    int64_t most = 0;
    int fits = sentences > 0 && score.length == live.length && score.length == width * sentences &&
               (!bank.data || bank.length == score.length);
    for (Py_ssize_t i = 0; fits && !buffers.failed && bank.data && i < bank.length; i++) {
        fits = INTS(bank)[i] >= 0;
        if (INTS(bank)[i] > most) most = INTS(bank)[i];
    }
    double *best = NULL;
    if (!refuse_unless(&buffers, fits, "drop_behind")) {
        best = malloc((most + 1) * sizeof *best);
        if (best == NULL) {
            PyErr_NoMemory();
            buffers.failed = 1;
        }
    }
    for (Py_ssize_t first = 0; first < score.length && !buffers.failed; first += width) {
        for (int64_t i = 0; i <= most; i++) best[i] = CLOSED;
        for (Py_ssize_t i = first; i < first + width; i++) {
            int64_t of = bank.data ? INTS(bank)[i] : 0;
            if (FLAGS(live)[i] && DOUBLES(score)[i] > best[of]) best[of] = DOUBLES(score)[i];
        }
        for (Py_ssize_t i = first; i < first + width; i++)
            FLAGS(live)[i] &= DOUBLES(score)[i] >= best[bank.data ? INTS(bank)[i] : 0] - lag;
    }
    free(best);
    close_buffers(&buffers);
    if (buffers.failed) return NULL;
    Py_RETURN_NONE;
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
    Buffers buffers = {.count = 0, .failed = 0};
    Array scores = open_array(&buffers, args[0], 's', 0), ids = open_array(&buffers, args[1], 'i', 0);
    Array asked = open_array(&buffers, args[2], 's', 0), ban = open_array(&buffers, args[3], 'i', 0);
    int sound = !buffers.failed && scores.length == ids.length;
    Py_ssize_t rows = 0, top = 0;
    if (!buffers.failed && buffers.views[1].ndim == 2) {
        rows = buffers.views[1].shape[0];
        top = buffers.views[1].shape[1];
    }
    sound = sound && rows * top == ids.length && (!ban.length || (rows && ban.length % rows == 0));
    for (Py_ssize_t i = 0; sound && i < asked.length; i++) sound = score_at(&asked, i) <= rounding;
    for (Py_ssize_t row = 0; sound && row < rows; row++) {
        double before = rounding;
        Py_ssize_t banned = ban.length ? ban.length / rows : 0;
        for (Py_ssize_t i = row * top; sound && i < (row + 1) * top; i++) {
            double score = score_at(&scores, i);
            int64_t id = INTS(ids)[i];
            sound = score <= before && id >= 0 && id < vocabulary && (id != eos || score == CLOSED);
            before = score;
            for (Py_ssize_t b = row * banned; sound && b < (row + 1) * banned; b++)
                sound = INTS(ban)[b] != id || score == CLOSED;
        }
    }
    close_buffers(&buffers);
    return buffers.failed ? NULL : PyBool_FromLong(sound);
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
