/* The rows of one list, scored with one set of instructions; included once for each.

NAME gives functions their names, TARGET says which instructions they may have, VNNI whether those
for products of eight bits are among them. */

#if VNNI
#define ROWS_AT_ONCE 8
#define BLOCKS_AT_ONCE(rows) ((rows) > 4 ? 2 : (rows) > 2 ? 4 : 8)
#else
#define ROWS_AT_ONCE 5
#define BLOCKS_AT_ONCE(rows) 1
#endif

/* Round a row to eight bits: with a fixed multiplier, or with the one that makes its largest
   magnitude 127. */
TARGET static void NAME(quantise)(Work *w, Py_ssize_t row) {
    const float *from = FLOATS(w->hidden) + row * w->dim;
    float multiplier = w->multiplier, peak = 1e-30f, total = 0.0f;
    for (Py_ssize_t i = 0; i < w->dim; i++) {
        float size = fabsf(from[i]);
        peak = size > peak ? size : peak;
        total += 0.0f * from[i];
    }
    if (w->rounding != FIXED) multiplier = 127.0f / peak;
    float step = 1.0f / multiplier;
    w->factor[row] = step + total; /* not a number where the row has such */
    for (Py_ssize_t i = 0; i < w->dim; i += 4) {
        __m128 four = _mm_loadu_ps(from + i);
        four = w->rounding == FIXED ? _mm_div_ps(four, _mm_set1_ps(step))
                                    : _mm_mul_ps(four, _mm_set1_ps(multiplier));
        four = _mm_add_ps(four, _mm_set1_ps(128.0f));
        four = _mm_max_ps(_mm_set1_ps(0.0f), _mm_min_ps(_mm_set1_ps(255.0f), four));
        __m128i whole = w->rounding == DOWN ? _mm_cvttps_epi32(four) : _mm_cvtps_epi32(four);
        whole = _mm_packus_epi16(_mm_packus_epi32(whole, whole), whole);
        int32_t bytes = _mm_cvtsi128_si32(whole);
        memcpy(w->x + row * w->dim + i, &bytes, 4);
    }
}

/* Write the sums of products of some rows with some blocks of tokens; both numbers are known to
   the compiler. */
TARGET static inline __attribute__((always_inline)) void NAME(multiply)(
    const unsigned char *packed, const unsigned char *x, Py_ssize_t dim, int rows, int blocks,
    int32_t (*sums)[TILE], Py_ssize_t at
) {
#if VNNI
    __m512i total[8][8];
    for (int r = 0; r < rows; r++)
        for (int b = 0; b < blocks; b++) total[r][b] = _mm512_setzero_si512();
    for (Py_ssize_t i = 0; i < dim; i += 4) {
        __m512i weights[8];
        for (int b = 0; b < blocks; b++)
            weights[b] = _mm512_loadu_si512(packed + b * BLOCK * dim + i * BLOCK);
        for (int r = 0; r < rows; r++) {
            int32_t four;
            memcpy(&four, x + r * dim + i, 4);
            __m512i all = _mm512_set1_epi32(four);
            for (int b = 0; b < blocks; b++)
                total[r][b] = _mm512_dpbusd_epi32(total[r][b], all, weights[b]);
        }
    }
    for (int r = 0; r < rows; r++)
        for (int b = 0; b < blocks; b++) _mm512_storeu_si512(sums[r] + at + b * BLOCK, total[r][b]);
#else
    (void)blocks;
    const __m256i ones = _mm256_set1_epi16(1);
    __m256i total[5][2];
    for (int r = 0; r < rows; r++) total[r][0] = total[r][1] = _mm256_setzero_si256();
    for (Py_ssize_t i = 0; i < dim; i += 4) {
        const __m256i *from = (const __m256i *)(packed + i * BLOCK);
        __m256i weights[2] = {_mm256_loadu_si256(from), _mm256_loadu_si256(from + 1)};
        for (int r = 0; r < rows; r++) {
            int32_t four;
            memcpy(&four, x + r * dim + i, 4);
            __m256i all = _mm256_set1_epi32(four);
            for (int half = 0; half < 2; half++) {
                __m256i pairs = _mm256_maddubs_epi16(all, weights[half]);
                pairs = _mm256_madd_epi16(pairs, ones);
                total[r][half] = _mm256_add_epi32(total[r][half], pairs);
            }
        }
    }
    for (int r = 0; r < rows; r++)
        for (int half = 0; half < 2; half++)
            _mm256_storeu_si256((__m256i *)(sums[r] + at + half * 8), total[r][half]);
#endif
}

TARGET static void NAME(multiply_tile)(
    const unsigned char *packed, const unsigned char *x, Py_ssize_t dim, Py_ssize_t rows, Py_ssize_t tokens,
    int32_t (*sums)[TILE]
) {
    Py_ssize_t at = 0;
#define CASE(number)                                                                              \
    case number:                                                                                  \
        for (; at + BLOCKS_AT_ONCE(number) * BLOCK <= tokens; at += BLOCKS_AT_ONCE(number) * BLOCK) \
            NAME(multiply)(packed + at * dim, x, dim, number, BLOCKS_AT_ONCE(number), sums, at);  \
        for (; at < tokens; at += BLOCK)                                                          \
            NAME(multiply)(packed + at * dim, x, dim, number, 1, sums, at);                       \
        break;
    switch (rows) {
        CASE(1) CASE(2) CASE(3) CASE(4) CASE(5)
#if VNNI
        CASE(6) CASE(7) CASE(8)
#endif
    }
#undef CASE
}

/* e to the power of numbers that are at most 0, to seven digits. */
TARGET static inline __attribute__((always_inline)) __m256 NAME(exp)(__m256 x) {
    const __m256 shift = _mm256_set1_ps(12582912.0f); /* its last digit counts whole numbers */
    x = _mm256_max_ps(x, _mm256_set1_ps(-87.0f));
    __m256 n = _mm256_fmadd_ps(x, _mm256_set1_ps(1.44269504f), shift);
    __m256i power = _mm256_slli_epi32(_mm256_castps_si256(n), 23);
    n = _mm256_sub_ps(n, shift);
    x = _mm256_fnmadd_ps(n, _mm256_set1_ps(0.693359375f), x);
    x = _mm256_fnmadd_ps(n, _mm256_set1_ps(-2.12194440e-4f), x);
    __m256 y = _mm256_set1_ps(1.9875691500e-4f);
    y = _mm256_fmadd_ps(y, x, _mm256_set1_ps(1.3981999507e-3f));
    y = _mm256_fmadd_ps(y, x, _mm256_set1_ps(8.3334519073e-3f));
    y = _mm256_fmadd_ps(y, x, _mm256_set1_ps(4.1665795894e-2f));
    y = _mm256_fmadd_ps(y, x, _mm256_set1_ps(1.6666665459e-1f));
    y = _mm256_fmadd_ps(y, x, _mm256_set1_ps(5.0000001201e-1f));
    y = _mm256_fmadd_ps(_mm256_mul_ps(y, x), x, _mm256_add_ps(x, _mm256_set1_ps(1.0f)));
    return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(y), power));
}

/* Turn sums into scores; return the largest. */
TARGET static float NAME(scale)(
    const Work *w, Py_ssize_t row, Py_ssize_t at, Py_ssize_t tokens, const int32_t *sums, float *scores
) {
    const float *scale = FLOATS(w->scale) + at, *bias = FLOATS(w->bias) + at;
    const int32_t *offset = (const int32_t *)w->offset.data + at;
    __m256 max = _mm256_set1_ps(CLOSED), factor = _mm256_set1_ps(w->factor[row]);
    for (Py_ssize_t i = 0; i < tokens; i += 8) {
        __m256i sum = _mm256_loadu_si256((const __m256i *)(sums + i));
        sum = _mm256_add_epi32(sum, _mm256_loadu_si256((const __m256i *)(offset + i)));
        __m256 each = _mm256_mul_ps(_mm256_cvtepi32_ps(sum), factor);
        each = _mm256_mul_ps(each, _mm256_loadu_ps(scale + i));
        each = _mm256_add_ps(each, _mm256_loadu_ps(bias + i));
        max = _mm256_max_ps(max, each);
        _mm256_storeu_ps(scores + i, each);
    }
    float eight[8], largest = CLOSED;
    _mm256_storeu_ps(eight, max);
    for (int i = 0; i < 8; i++) largest = eight[i] > largest ? eight[i] : largest;
    return largest;
}

/* Add the powers of e of some scores to a row's sum, relative to its largest score so far. */
TARGET static void NAME(add_up)(
    const Work *w, Py_ssize_t row, Py_ssize_t tokens, const float *scores, float largest
) {
    if (largest > w->max[row]) {
        w->sum[row] *= expf(w->max[row] - largest);
        w->max[row] = largest;
    }
    __m256 total = _mm256_setzero_ps(), max = _mm256_set1_ps(w->max[row]);
    for (Py_ssize_t i = 0; i < tokens; i += 8)
        total = _mm256_add_ps(total, NAME(exp)(_mm256_sub_ps(_mm256_loadu_ps(scores + i), max)));
    float eight[8];
    _mm256_storeu_ps(eight, total);
    for (int i = 0; i < 8; i++) w->sum[row] += eight[i];
}

/* Let a row's best tokens be the best of those so far and of some more. */
TARGET static void NAME(keep_best)(
    const Work *w, Py_ssize_t row, Py_ssize_t at, Py_ssize_t tokens, const float *scores
) {
    float *best = FLOATS(w->top_scores) + row * w->top;
    int64_t *ids = INTS(w->top_ids) + row * w->top;
    for (Py_ssize_t i = 0; i < tokens; i += 8) {
        __m256 worst = _mm256_set1_ps(best[w->top - 1]);
        __m256 better = _mm256_cmp_ps(_mm256_loadu_ps(scores + i), worst, _CMP_GT_OQ);
        for (unsigned mask = _mm256_movemask_ps(better); mask; mask &= mask - 1) {
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
    const Work *w, Py_ssize_t row, Py_ssize_t at, Py_ssize_t tokens, Py_ssize_t listed,
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

TARGET static void NAME(score_list)(Work *w, Py_ssize_t from, Py_ssize_t to) {
    int64_t list = w->list.data ? INTS(w->list)[from] : 0;
    int64_t first = INTS(w->first)[list], end = INTS(w->first)[list + 1];
    int32_t sums[ROWS_AT_ONCE][TILE];
    for (Py_ssize_t row = from; row < to; row++) NAME(quantise)(w, row);
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
#undef ROWS_AT_ONCE
#undef BLOCKS_AT_ONCE
