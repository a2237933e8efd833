/* The output layer: the rows of one list, scored with one set of instructions.

Included once for each, behind `_network_products.h`. */

/* Round a row to eight bits: with a fixed multiplier, or with the one that makes its largest
   magnitude 127. */
TARGET static void NAME(quantise_row)(Scoring *w, Py_ssize_t row) {
    const float *from = FLOATS(w->hidden) + row * w->dim;
    __m128 most = _mm_set1_ps(1e-30f), wrong = _mm_setzero_ps(), sign = _mm_set1_ps(-0.0f);
    for (Py_ssize_t i = 0; i < w->dim; i += 4) {
        __m128 four = _mm_loadu_ps(from + i);
        most = _mm_max_ps(most, _mm_andnot_ps(sign, four));
        wrong = _mm_add_ps(wrong, _mm_mul_ps(four, _mm_setzero_ps()));
    }
    float peak = 0.0f, total = 0.0f, fours[2][4];
    _mm_storeu_ps(fours[0], most);
    _mm_storeu_ps(fours[1], wrong);
    for (int i = 0; i < 4; i++) {
        peak = fours[0][i] > peak ? fours[0][i] : peak;
        total += fours[1][i];
    }
    float multiplier = w->rounding == FIXED ? w->multiplier : 127.0f / peak, step = 1.0f / multiplier;
    w->factor[row] = step + total; /* not a number where the row has such */
    NAME(quantise)(from, w->dim, w->rounding == FIXED ? step : 0.0f, multiplier, w->rounding == DOWN,
                   128.0f, w->x + row * w->dim);
}

/* Turn sums into scores; return the largest. */
TARGET static float NAME(scale)(
    const Scoring *w, Py_ssize_t row, Py_ssize_t at, Py_ssize_t tokens, const int32_t *sums,
    float *scores
) {
    const float *scale = FLOATS(w->scale) + at, *bias = FLOATS(w->bias) + at;
    const int32_t *offset = (const int32_t *)w->offset.data + at;
    Floats max = F(set1)(CLOSED), factor = F(set1)(w->factor[row]);
    for (Py_ssize_t i = 0; i < tokens; i += LANES) {
        Ints sum = ADD_INTS(LOAD_INTS(sums + i), LOAD_INTS(offset + i));
        Floats each = F(mul)(F(mul)(TO_FLOATS(sum), factor), F(loadu)(scale + i));
        each = F(add)(each, F(loadu)(bias + i));
        max = F(max)(max, each);
        F(storeu)(scores + i, each);
    }
    return LARGEST(max);
}

/* Add the powers of e of some scores to a row's sum, relative to its largest score so far. */
TARGET static void NAME(add_up)(
    const Scoring *w, Py_ssize_t row, Py_ssize_t tokens, const float *scores, float largest
) {
    if (largest > w->max[row]) {
        w->sum[row] *= expf(w->max[row] - largest);
        w->max[row] = largest;
    }
    Floats total = F(setzero)(), max = F(set1)(w->max[row]);
    for (Py_ssize_t i = 0; i < tokens; i += LANES)
        total = F(add)(total, NAME(exp)(F(sub)(F(loadu)(scores + i), max)));
    w->sum[row] += ADD_UP(total);
}

/* Let a row's best tokens be the best of those so far and of some more. */
TARGET static void NAME(keep_best)(
    const Scoring *w, Py_ssize_t row, Py_ssize_t at, Py_ssize_t tokens, const float *scores
) {
    float *best = FLOATS(w->top_scores) + row * w->top;
    int64_t *ids = INTS(w->top_ids) + row * w->top;
    for (Py_ssize_t i = 0; i < tokens; i += LANES) {
        Floats worst = F(set1)(best[w->top - 1]);
        for (unsigned mask = ABOVE(F(loadu)(scores + i), worst); mask; mask &= mask - 1) {
            Py_ssize_t j = i + __builtin_ctz(mask), slot = w->top - 1;
            if (!(scores[j] > best[slot])) continue;
            for (; slot > 0 && scores[j] > best[slot - 1]; slot--) {
                best[slot] = best[slot - 1];
                ids[slot] = ids[slot - 1];
            }
            best[slot] = scores[j];
            ids[slot] = w->ids.data ? INTS(w->ids)[at + j] : at + j;
        }
    }
}

/* Take what is wanted from the scores of some tokens, of which the first `listed` are proposed. */
TARGET static void NAME(take_scores)(
    const Scoring *w, Py_ssize_t row, Py_ssize_t at, Py_ssize_t tokens, Py_ssize_t listed,
    const int32_t *sums
) {
    float scores[TILE];
    NAME(add_up)(w, row, tokens, scores, NAME(scale)(w, row, at, tokens, sums, scores));
    if (listed <= 0) return;
    for (Py_ssize_t i = row * w->asked; i < (row + 1) * w->asked; i++)
        if (w->asked_at[i] >= at && w->asked_at[i] < at + tokens)
            FLOATS(w->ask_scores)[i] = scores[w->asked_at[i] - at];
    for (Py_ssize_t i = listed; i < tokens; i++) scores[i] = CLOSED;
    for (Py_ssize_t i = row * w->banned; i < (row + 1) * w->banned; i++)
        if (w->banned_at[i] >= at && w->banned_at[i] < at + tokens)
            scores[w->banned_at[i] - at] = CLOSED;
    if (w->hold.data && FLAGS(w->hold)[row])
        for (Py_ssize_t i = 0; i < listed && i < tokens; i++) {
            int64_t id = w->ids.data ? INTS(w->ids)[at + i] : at + i;
            if (id < w->starts.length && FLAGS(w->starts)[id]) scores[i] = CLOSED;
        }
    if (w->top) NAME(keep_best)(w, row, at, tokens, scores);
}

TARGET static void NAME(score_list)(Scoring *w, Py_ssize_t from, Py_ssize_t to) {
    int64_t list = w->list.data ? INTS(w->list)[from] : 0;
    int64_t first = INTS(w->first)[list], end = INTS(w->first)[list + 1];
    int32_t sums[ROWS_AT_ONCE][TILE];
    for (Py_ssize_t row = from; row < to; row++) NAME(quantise_row)(w, row);
    for (Py_ssize_t at = first; at < end; at += TILE) {
        Py_ssize_t tokens = end - at < TILE ? end - at : TILE;
        Py_ssize_t listed = first + INTS(w->listed)[list] - at;
        for (Py_ssize_t row = from; row < to; row += ROWS_AT_ONCE) {
            Py_ssize_t rows = to - row < ROWS_AT_ONCE ? to - row : ROWS_AT_ONCE;
            const unsigned char *packed = FLAGS(w->packed) + at * w->dim;
            NAME(multiply_tile)(packed, w->x + row * w->dim, w->dim, rows, tokens, sums);
            for (Py_ssize_t r = 0; r < rows; r++)
                NAME(take_scores)(w, row + r, at, tokens, listed, sums[r]);
        }
    }
}
