/* Networks in eight bits: a step of the decoder, and from its last hidden layer to the best tokens.

The graph of a runtime takes sixty operations for a step, most of them short. Six of them go over
all tokens of the output layer, and one puts the weights of a sentence's own list in order at every
step. Here weights are put in order once (`pack`), and scores are looked at while a few hundred of
them are in the processor's nearest cache. Sums are exact, so that a row gets the same scores in any
batch. Used where the processor has AVX2.

`_network_products.h`, `_network_output.h` and `_network_decoder.h` have the arithmetic; they are
compiled for two sets of instructions. */

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
} Scoring;

typedef struct {
    Py_ssize_t dim, inner, heads, layers, rows, past, sentences, time;
    float epsilon;
    Array packed, offset, scale, bias, steps, norms, table, table_scale; /* the weights */
    Array tokens, parents, sentence, position, keys, values, lengths, state, hidden, next, attention;
    Py_ssize_t attended_layer, attended_head; /* whose attention is written; no head: their mean */
    Py_ssize_t matrix, inputs_read, outputs_read; /* how far the weights have been read */
    const float *norm;                            /* the next normalisation */
    float *x, *y, *wide, *weights;
    unsigned char *bytes;
} Decoder;

typedef struct {
    const unsigned char *packed;
    const int32_t *offset;
    const float *scale, *bias;
    float step;
} Matrix;

static Matrix next_matrix(Decoder *d, Py_ssize_t inputs, Py_ssize_t outputs) {
    Py_ssize_t at = d->outputs_read;
    Matrix m = {FLAGS(d->packed) + d->inputs_read, (int32_t *)d->offset.data + at,
                FLOATS(d->scale) + at, FLOATS(d->bias) + at, FLOATS(d->steps)[d->matrix++]};
    d->inputs_read += inputs * outputs;
    d->outputs_read += outputs;
    return m;
}

/* Write how a head of a row looks at its source, if it is asked for. */
static void write_attention(const Decoder *d, Py_ssize_t row, Py_ssize_t head, int64_t length) {
    float *to = FLOATS(d->attention) + row * d->time;
    int one = d->attended_head >= 0;
    if (one && head != d->attended_head) return;
    for (int64_t t = 0; t < length; t++) to[t] += one ? d->weights[t] : d->weights[t] / (float)d->heads;
}

#if defined(__GNUC__) && defined(__x86_64__)
#include <immintrin.h>

#define NAME(function) function##_vnni
#define TARGET __attribute__((target("avx2,fma,avx512f,avx512bw,avx512vl,avx512vnni")))
#define VNNI 1
#include "_network_products.h"
#include "_network_output.h"
#include "_network_decoder.h"
#undef NAME
#undef TARGET
#undef VNNI
#undef ROWS_AT_ONCE
#undef BLOCKS_AT_ONCE
#undef LANES
#undef F
#undef Floats
#undef Ints
#undef LOAD_INTS
#undef ADD_INTS
#undef TO_FLOATS
#undef TO_POWER
#undef TIMES_POWER
#undef ADD_UP
#undef LARGEST
#undef ABOVE
#undef WHERE_BELOW_0
#define NAME(function) function##_avx2
#define TARGET __attribute__((target("avx2,fma")))
#define VNNI 0
#include "_network_products.h"
#include "_network_output.h"
#include "_network_decoder.h"

static int find_level(void) {
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 0;
    return __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512vl") ? 2 : 1;
}

static void score_list(Scoring *w, Py_ssize_t from, Py_ssize_t to, Py_ssize_t level) {
    if (level > 1) score_list_vnni(w, from, to);
    else score_list_avx2(w, from, to);
}

static void take_step(Decoder *d, Py_ssize_t level) {
    if (level > 1) take_step_vnni(d);
    else take_step_avx2(d);
}
#else
static int find_level(void) { return 0; }
static void score_list(Scoring *w, Py_ssize_t from, Py_ssize_t to, Py_ssize_t level) {
    (void)w, (void)from, (void)to, (void)level;
}
static void take_step(Decoder *d, Py_ssize_t level) { (void)d, (void)level; }
#endif

static int64_t list_of(const Scoring *w, Py_ssize_t row) {
    return w->list.data ? INTS(w->list)[row] : 0;
}

/* Where a row's list has a token; -1: nowhere. Without ids a list is the whole vocabulary. */
static int64_t find_token(const Scoring *w, Py_ssize_t row, int64_t token) {
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
static void finish(Scoring *w, Py_ssize_t row) {
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

static void score_all(Scoring *w, Py_ssize_t level) {
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
static int fits_together(const Scoring *w) {
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
    Scoring w = {.dim = 0};
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

/* Whether the weights are those of such a network, and all rows are inside what they refer to. */
static int decoder_fits(Decoder *d) {
    Py_ssize_t dim = d->dim, matrices = d->layers * (4 * dim * dim + 2 * dim * d->inner);
    Py_ssize_t outputs = d->layers * (5 * dim + d->inner), memory = d->layers * d->sentences * dim;
    int fits = dim > 0 && d->heads > 0 && d->layers > 0 && d->rows > 0 && d->sentences > 0 &&
               dim % (16 * d->heads) == 0 && d->inner > 0 && d->inner % 16 == 0 &&
               d->packed.length == matrices && d->steps.length == 5 * d->layers &&
               all_have(outputs, ARRAYS(&d->offset, &d->scale, &d->bias)) &&
               d->norms.length == 6 * d->layers * dim &&
               d->table.length == d->table_scale.length * dim && d->position.length == dim &&
               all_have(d->rows, ARRAYS(&d->parents, &d->sentence)) &&
               d->time > 0 && d->time % 16 == 0 &&
               all_have(memory * d->time, ARRAYS(&d->keys, &d->values)) &&
               d->state.length == d->layers * d->past * dim && d->hidden.length == d->rows * dim &&
               d->next.length == d->layers * d->rows * dim &&
               has_or_none(&d->attention, d->rows * d->time);
    for (Py_ssize_t i = 0; fits && i < d->sentences; i++)
        fits = INTS(d->lengths)[i] > 0 && INTS(d->lengths)[i] <= d->time;
    for (Py_ssize_t row = 0; fits && row < d->rows; row++)
        fits = INTS(d->tokens)[row] >= 0 && INTS(d->tokens)[row] <= d->table_scale.length &&
               INTS(d->parents)[row] >= 0 && INTS(d->parents)[row] < d->past &&
               INTS(d->sentence)[row] >= 0 && INTS(d->sentence)[row] < d->sentences;
    return fits;
}

/* step(level, dim, heads, layers, attended_layer, attended_head, epsilon, packed, offset, scale, bias, steps, norms, table,
   table_scale, keys, values, lengths, tokens, parents, sentence, position, state, hidden, next,
   attention):
   take a step of a decoder with SSRU cells. Weights are those of all layers, one after another:
   the cell's two matrices side by side, query, output of attention, the two feed-forward layers.
   # shape of keys: (layers, sentences, heads, size, time), of values the last two the other way */
static PyObject *step(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    (void)self;
    Decoder d = {.dim = 0};
    Buffers buffers = NO_BUFFERS;
    Py_ssize_t level;
    double epsilon;
    if (refuse_count(nargs, 26, "step") || read_size(args[0], &level) ||
        read_size(args[1], &d.dim) || read_size(args[2], &d.heads) ||
        read_size(args[3], &d.layers) || read_size(args[4], &d.attended_layer) ||
        read_size(args[5], &d.attended_head) || read_double(args[6], &epsilon))
        return NULL;
    open_all(&buffers, args + 7, "bmffffbfffiiiiffFFF",
             ARRAYS(&d.packed, &d.offset, &d.scale, &d.bias, &d.steps, &d.norms, &d.table,
                    &d.table_scale, &d.keys, &d.values, &d.lengths, &d.tokens, &d.parents,
                    &d.sentence, &d.position, &d.state, &d.hidden, &d.next, &d.attention));
    if (!buffers.failed && d.dim > 0 && d.layers > 0 && d.lengths.length > 0) {
        d.epsilon = (float)epsilon, d.norm = FLOATS(d.norms);
        d.rows = d.tokens.length, d.sentences = d.lengths.length;
        d.inner = d.offset.length / d.layers - 5 * d.dim;
        d.past = d.state.length / (d.layers * d.dim);
        d.time = d.keys.length / (d.layers * d.sentences * d.dim);
    }
    refuse_unless(&buffers, level > 0 && level <= find_level() && decoder_fits(&d), "step");
    Py_ssize_t most = d.inner > 2 * d.dim ? d.inner : 2 * d.dim;
    d.y = take_room(&buffers, d.rows * d.dim, sizeof *d.y);
    d.wide = take_room(&buffers, d.rows * most, sizeof *d.wide);
    d.bytes = take_room(&buffers, d.rows * most, 1);
    d.weights = take_room(&buffers, d.time, sizeof *d.weights);
    d.x = FLOATS(d.hidden);
    if (!buffers.failed && d.attention.data) memset(d.attention.data, 0, d.attention.length * 4);
    if (!buffers.failed) {
        PyThreadState *state = PyEval_SaveThread();
        take_step(&d, level);
        PyEval_RestoreThread(state);
    }
    close_buffers(&buffers);
    if (buffers.failed) return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    FUNCTION("score", score),
    FUNCTION("pack", pack),
    FUNCTION("step", step),
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_network", NULL, -1, functions,
                                    NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__network(void) {
    PyObject *created = PyModule_Create(&module);
    if (created == NULL || PyModule_AddIntConstant(created, "LEVEL", find_level()) ||
        add_checksum(created)) {
        Py_XDECREF(created);
        return NULL;
    }
    return created;
}
