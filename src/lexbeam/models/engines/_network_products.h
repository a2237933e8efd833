/* Products in eight bits with one set of instructions; included once for each.

NAME gives functions their names, TARGET says which instructions they may have, VNNI whether those
for products of eight bits are among them. Without, two neighbouring products are added in sixteen
bits: weights are such that they fit (`lexbeam.models.graphs.weights`). */

#if VNNI
#define ROWS_AT_ONCE 8
#define BLOCKS_AT_ONCE(rows) ((rows) > 4 ? 2 : (rows) > 2 ? 4 : 8)
#else
#define ROWS_AT_ONCE 5
#define BLOCKS_AT_ONCE(rows) 1
#endif

/* Round a row to eight bits: its numbers are `step` apart, or, if that is 0, multiplied by a
   number; `zero` stands for zero. */
TARGET static void NAME(quantise)(
    const float *from, Py_ssize_t number, float step, float multiplier, int down, float zero,
    unsigned char *to
) {
    for (Py_ssize_t i = 0; i < number; i += 4) {
        __m128 four = _mm_loadu_ps(from + i);
        four = step > 0.0f ? _mm_div_ps(four, _mm_set1_ps(step))
                           : _mm_mul_ps(four, _mm_set1_ps(multiplier));
        four = _mm_add_ps(four, _mm_set1_ps(zero));
        four = _mm_max_ps(_mm_setzero_ps(), _mm_min_ps(_mm_set1_ps(255.0f), four));
        __m128i whole = down ? _mm_cvttps_epi32(four) : _mm_cvtps_epi32(four);
        whole = _mm_packus_epi16(_mm_packus_epi32(whole, whole), whole);
        int32_t bytes = _mm_cvtsi128_si32(whole);
        memcpy(to + i, &bytes, 4);
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
