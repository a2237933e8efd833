/* The output layer of a network in eight bits: from the last hidden layer to the best tokens.

A row of the beam is multiplied with the tokens that it may be followed by, their scores become
log-probabilities, and only the best ones and those that were asked for are kept. In the graph of a
runtime that takes six operations over all tokens, and one of them puts the weights of a sentence's
own list in order at every step. Here they are put in order once (`pack`), and all else happens
while a few hundred scores are in the processor's nearest cache (`_output_rows.h`). Sums are exact,
so that a row gets the same scores in any batch. Used where the processor has AVX2. */

#include "../../_compiled_arrays.h"

enum { BLOCK = 16, TILE = 128 }; /* tokens of a block of weights, and of what is scored at once */
enum { FIXED, TO_NEAREST, DOWN };

typedef struct {
    Py_ssize_t dim, rows, asked, banned, top;
    int rounding;
    float multiplier;
    Array hidden, packed, offset, scale, bias, ids, first, listed, list, ask, ban, hold, starts;
    Array top_scores, top_ids, ask_scores;
    unsigned char *x;  /* the rows in eight bits, 128 stands for zero */
    float *factor;     /* what the sums of a row are multiplied by, beside the scale of a token */
    float *max, *sum;  /* of a row's scores so far, and of their powers of e relative to it */
    int64_t *asked_at, *banned_at; /* where the list has what is asked and banned; -1: nowhere */
} Work;

#if defined(__GNUC__) && defined(__x86_64__)
#include <immintrin.h>

#define NAME(function) function##_vnni
#define TARGET __attribute__((target("avx2,fma,avx512f,avx512bw,avx512vl,avx512vnni")))
#define VNNI 1
#include "_output_rows.h"
#undef NAME
#undef TARGET
#undef VNNI
#define NAME(function) function##_avx2
#define TARGET __attribute__((target("avx2,fma")))
#define VNNI 0
#include "_output_rows.h"

static int find_level(void) {
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 0;
    return __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512vl") ? 2 : 1;
}

static void score_list(Work *w, Py_ssize_t from, Py_ssize_t to, Py_ssize_t level) {
    if (level > 1) score_list_vnni(w, from, to);
    else score_list_avx2(w, from, to);
}
#else
static int find_level(void) { return 0; }
static void score_list(Work *w, Py_ssize_t from, Py_ssize_t to, Py_ssize_t level) {
    (void)w, (void)from, (void)to, (void)level;
}
#endif

static int64_t list_of(const Work *w, Py_ssize_t row) {
    return w->list.data ? INTS(w->list)[row] : 0;
}

/* Where a row's list has a token; -1: nowhere. Without ids a list is the whole vocabulary. */
static int64_t find_token(const Work *w, Py_ssize_t row, int64_t token) {
    int64_t low = INTS(w->first)[list_of(w, row)], end = low + INTS(w->listed)[list_of(w, row)];
    if (token < 0) return -1;
    if (!w->ids.data) return low + token < end ? low + token : -1;
    int64_t high = end;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (INTS(w->ids)[middle] < token) low = middle + 1;
        else high = middle;
    }
    return low < end && INTS(w->ids)[low] == token ? low : -1;
}

/* Make the scores of a row into log-probabilities. Where a row has something that is no number,
   neither is its factor, and so none of them is. */
static void finish(Work *w, Py_ssize_t row) {
    float log_sum = logf(w->sum[row]) + 0.0f * w->factor[row], max = w->max[row];
    for (Py_ssize_t i = 0; i < w->top; i++) {
        FLOATS(w->top_scores)[row * w->top + i] -= max;
        FLOATS(w->top_scores)[row * w->top + i] -= log_sum;
    }
    for (Py_ssize_t i = 0; i < w->asked; i++) {
        FLOATS(w->ask_scores)[row * w->asked + i] -= max;
        FLOATS(w->ask_scores)[row * w->asked + i] -= log_sum;
    }
}

static void score_all(Work *w, Py_ssize_t level) {
    for (Py_ssize_t i = 0; i < w->rows * w->asked; i++) {
        w->asked_at[i] = find_token(w, i / w->asked, INTS(w->ask)[i]);
        FLOATS(w->ask_scores)[i] = CLOSED;
    }
    for (Py_ssize_t i = 0; i < w->rows * w->banned; i++)
        w->banned_at[i] = find_token(w, i / w->banned, INTS(w->ban)[i]);
    for (Py_ssize_t i = 0; i < w->rows * w->top; i++) {
        FLOATS(w->top_scores)[i] = CLOSED;
        INTS(w->top_ids)[i] = 0;
    }
    for (Py_ssize_t from = 0, to; from < w->rows; from = to) {
        for (to = from; to < w->rows && list_of(w, to) == list_of(w, from); to++) {
            w->max[to] = CLOSED;
            w->sum[to] = 0.0f;
        }
        score_list(w, from, to, level);
        for (Py_ssize_t row = from; row < to; row++) finish(w, row);
    }
}

/* Whether lists are inside the weights and all that rows have fits together. */
static int fits_together(const Work *w) {
    Py_ssize_t tokens = w->scale.length, lists = w->listed.length;
    int fits = w->dim > 0 && w->dim % 4 == 0 && w->hidden.length == w->rows * w->dim &&
               w->packed.length == tokens * w->dim && w->bias.length == tokens &&
               w->offset.length == tokens &&
               w->first.length == lists + 1 && lists > 0 && has_or_none(&w->ids, tokens) &&
               has_or_none(&w->list, w->rows) && w->ask.length == w->rows * w->asked &&
               w->ban.length == w->rows * w->banned && has_or_none(&w->hold, w->rows) &&
               w->top_ids.length == w->rows * w->top && w->ask_scores.length == w->ask.length;
    for (Py_ssize_t i = 0; fits && i < lists; i++) {
        int64_t first = INTS(w->first)[i], end = INTS(w->first)[i + 1];
        fits = first >= 0 && first % BLOCK == 0 && end % BLOCK == 0 && first < end && end <= tokens &&
               INTS(w->listed)[i] >= 0 && INTS(w->listed)[i] <= end - first;
    }
    for (Py_ssize_t row = 0; fits && w->list.data && row < w->rows; row++)
        fits = INTS(w->list)[row] >= 0 && INTS(w->list)[row] < lists;
    return fits;
}

/* score(level, dim, multiplier, rounding, packed, offset, scale, bias, ids, first, listed, hidden,
   list, ask, ban, hold, starts, top_scores, top_ids, ask_scores): score the rows of `hidden`, each with
   the tokens of its list, and write the best and those that are asked for. Of the tokens from
   first[i] to first[i + 1] the first listed[i] are proposed, in order of their ids; the others
   only have their share of the probability. Tokens that are banned are not proposed, nor are
   those that start a word where a row is on hold. */
static PyObject *score(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    (void)self;
    Work w = {.dim = 0};
    Buffers buffers = NO_BUFFERS;
    Py_ssize_t level, rounding;
    double multiplier;
    if (refuse_count(nargs, 20, "score") || read_size(args[0], &level) ||
        read_size(args[1], &w.dim) || read_double(args[2], &multiplier) ||
        read_size(args[3], &rounding))
        return NULL;
    open_all(&buffers, args + 4, "bmffiiifiiibbFIF",
             ARRAYS(&w.packed, &w.offset, &w.scale, &w.bias, &w.ids, &w.first, &w.listed, &w.hidden, &w.list,
                    &w.ask, &w.ban, &w.hold, &w.starts, &w.top_scores, &w.top_ids, &w.ask_scores));
    w.multiplier = (float)multiplier, w.rounding = (int)rounding;
    w.rows = w.dim > 0 ? w.hidden.length / w.dim : 0;
    if (w.rows) {
        w.asked = w.ask.length / w.rows, w.banned = w.ban.length / w.rows;
        w.top = w.top_scores.length / w.rows;
    }
    refuse_unless(&buffers, level > 0 && level <= find_level() && fits_together(&w), "score");
    w.x = take_room(&buffers, w.rows * w.dim, 1);
    w.factor = take_room(&buffers, w.rows, sizeof *w.factor);
    w.max = take_room(&buffers, w.rows, sizeof *w.max);
    w.sum = take_room(&buffers, w.rows, sizeof *w.sum);
    w.asked_at = take_room(&buffers, w.rows * w.asked, sizeof *w.asked_at);
    w.banned_at = take_room(&buffers, w.rows * w.banned, sizeof *w.banned_at);
    if (!buffers.failed) {
        PyThreadState *state = PyEval_SaveThread();
        score_all(&w, level);
        PyEval_RestoreThread(state);
    }
    close_buffers(&buffers);
    if (buffers.failed) return NULL;
    Py_RETURN_NONE;
}

static void pack_block(
    const Array *values, Py_ssize_t dim, const int64_t *ids, unsigned char *to, int32_t *offset
) {
    const int8_t *from[BLOCK];
    for (int t = 0; t < BLOCK; t++) {
        from[t] = ids[t] >= 0 && ids[t] < values->length / dim ? (int8_t *)values->data + ids[t] * dim : NULL;
        int32_t sum = 0;
        for (Py_ssize_t i = 0; from[t] && i < dim; i++) sum += from[t][i];
        offset[t] = -128 * sum;
    }
    for (Py_ssize_t i = 0; i < dim; i += 4)
        for (int t = 0; t < BLOCK; t++, to += 4) {
            if (from[t]) memcpy(to, from[t] + i, 4);
            else memset(to, 0, 4);
        }
}

/* pack(values, dim, ids, packed, offset): write the weights of some tokens in the order in which
   they are read, sixteen tokens side by side, four numbers of each; and what sums have too much
   where 128 stands for zero. Ids that are not in the table get zeros. */
static PyObject *pack(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    (void)self;
    Py_ssize_t dim;
    Buffers buffers = NO_BUFFERS;
    Array values, ids, packed, offset;
    if (refuse_count(nargs, 5, "pack") || read_size(args[1], &dim)) return NULL;
    open_all(&buffers, args, "b", ARRAYS(&values));
    open_all(&buffers, args + 2, "iBM", ARRAYS(&ids, &packed, &offset));
    int fits = dim > 0 && dim % 4 == 0 && ids.length % BLOCK == 0 &&
               packed.length == ids.length * dim && offset.length == ids.length;
    if (!refuse_unless(&buffers, fits, "pack")) {
        PyThreadState *state = PyEval_SaveThread();
        for (Py_ssize_t i = 0; i < ids.length; i += BLOCK)
            pack_block(&values, dim, INTS(ids) + i, FLAGS(packed) + i * dim, (int32_t *)offset.data + i);
        PyEval_RestoreThread(state);
    }
    close_buffers(&buffers);
    if (buffers.failed) return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    FUNCTION("score", score),
    FUNCTION("pack", pack),
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_output", NULL, -1, functions,
                                    NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__output(void) {
    PyObject *created = PyModule_Create(&module);
    if (created == NULL || PyModule_AddIntConstant(created, "LEVEL", find_level()) ||
        add_checksum(created)) {
        Py_XDECREF(created);
        return NULL;
    }
    return created;
}
