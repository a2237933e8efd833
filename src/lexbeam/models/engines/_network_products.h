/* Products in eight bits with one set of instructions; included once for each.

NAME gives functions their names, TARGET says which instructions they may have, VNNI whether those
for products of eight bits are among them. Without, two neighbouring products are added in sixteen
bits: weights are such that they fit (`lexbeam.models.graphs.weights`). */

#if VNNI
#define ROWS_AT_ONCE 8
#define BLOCKS_AT_ONCE(rows) ((rows) > 4 ? 2 : (rows) > 2 ? 4 : 8)
#define LANES 16
#define F(operation) _mm512_##operation##_ps
#define Floats __m512
#define Ints __m512i
#define LOAD_INTS(from) _mm512_loadu_si512((const void *)(from))
#define ADD_INTS _mm512_add_epi32
#define TO_FLOATS _mm512_cvtepi32_ps
#define TO_POWER(x) _mm512_slli_epi32(_mm512_castps_si512(x), 23)
#define TIMES_POWER(x, power) _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(x), power))
#define ADD_UP _mm512_reduce_add_ps
#define LARGEST _mm512_reduce_max_ps
#define ABOVE(x, y) ((unsigned)_mm512_cmp_ps_mask(x, y, _CMP_GT_OQ))
#define WHERE_BELOW_0(x, yes, no) _mm512_mask_blend_ps(_mm512_cmp_ps_mask(x, F(setzero)(), _CMP_LT_OQ), no, yes)
#else
#define ROWS_AT_ONCE 5
#define BLOCKS_AT_ONCE(rows) 1
#define LANES 8
#define F(operation) _mm256_##operation##_ps
#define Floats __m256
#define Ints __m256i
#define LOAD_INTS(from) _mm256_loadu_si256((const __m256i *)(from))
#define ADD_INTS _mm256_add_epi32
#define TO_FLOATS _mm256_cvtepi32_ps
#define TO_POWER(x) _mm256_slli_epi32(_mm256_castps_si256(x), 23)
#define TIMES_POWER(x, power) _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(x), power))
#define ADD_UP NAME(add_up_lanes)
#define LARGEST NAME(largest_lane)
#define ABOVE(x, y) ((unsigned)_mm256_movemask_ps(_mm256_cmp_ps(x, y, _CMP_GT_OQ)))
#define WHERE_BELOW_0(x, yes, no) _mm256_blendv_ps(no, yes, x)

TARGET static inline float NAME(add_up_lanes)(__m256 x) {
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    four = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(four, _mm_shuffle_ps(four, four, 1)));
}

TARGET static inline float NAME(largest_lane)(__m256 x) {
    __m128 four = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    four = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(four, _mm_shuffle_ps(four, four, 1)));
}
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
TARGET static inline __attribute__((always_inline)) Floats NAME(exp)(Floats x) {
    const Floats shift = F(set1)(12582912.0f); /* its last digit counts whole numbers */
    x = F(max)(x, F(set1)(-87.0f));
    Floats n = F(fmadd)(x, F(set1)(1.44269504f), shift);
    Ints power = TO_POWER(n);
    n = F(sub)(n, shift);
    x = F(fnmadd)(n, F(set1)(0.693359375f), x);
    x = F(fnmadd)(n, F(set1)(-2.12194440e-4f), x);
    Floats y = F(set1)(1.9875691500e-4f);
    y = F(fmadd)(y, x, F(set1)(1.3981999507e-3f));
    y = F(fmadd)(y, x, F(set1)(8.3334519073e-3f));
    y = F(fmadd)(y, x, F(set1)(4.1665795894e-2f));
    y = F(fmadd)(y, x, F(set1)(1.6666665459e-1f));
    y = F(fmadd)(y, x, F(set1)(5.0000001201e-1f));
    y = F(fmadd)(F(mul)(y, x), x, F(add)(x, F(set1)(1.0f)));
    return TIMES_POWER(y, power);
}
