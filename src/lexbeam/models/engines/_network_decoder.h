/* A step of a decoder with SSRU cells, computed with one set of instructions.

Included once for each, behind `_network_products.h`. */

/* Multiply all rows by the next matrix and add its bias. */
TARGET static void NAME(dense)(
    Decoder *d, const float *from, Py_ssize_t inputs, Py_ssize_t outputs, float zero, float *to
) {
    Matrix m = next_matrix(d, inputs, outputs);
    int32_t sums[ROWS_AT_ONCE][TILE];
    for (Py_ssize_t row = 0; row < d->rows; row++)
        NAME(quantise)(from + row * inputs, inputs, m.step, 0.0f, 0, zero, d->bytes + row * inputs);
    for (Py_ssize_t at = 0; at < outputs; at += TILE) {
        Py_ssize_t number = outputs - at < TILE ? outputs - at : TILE;
        for (Py_ssize_t first = 0; first < d->rows; first += ROWS_AT_ONCE) {
            Py_ssize_t rows = d->rows - first < ROWS_AT_ONCE ? d->rows - first : ROWS_AT_ONCE;
            const unsigned char *x = d->bytes + first * inputs;
            NAME(multiply_tile)(m.packed + at * inputs, x, inputs, rows, number, sums);
            for (Py_ssize_t i = 0; i < number; i += 8) {
                __m256i offset = _mm256_loadu_si256((const __m256i *)(m.offset + at + i));
                if (zero == 0.0f) offset = _mm256_setzero_si256();
                __m256 scale = _mm256_loadu_ps(m.scale + at + i), bias = _mm256_loadu_ps(m.bias + at + i);
                for (Py_ssize_t r = 0; r < rows; r++) {
                    __m256i sum = _mm256_loadu_si256((const __m256i *)(sums[r] + i));
                    __m256 each = _mm256_cvtepi32_ps(_mm256_add_epi32(sum, offset));
                    each = _mm256_add_ps(_mm256_mul_ps(each, scale), bias);
                    _mm256_storeu_ps(to + (first + r) * outputs + at + i, each);
                }
            }
        }
    }
}

TARGET static inline float NAME(add_lanes)(__m256 x) {
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    four = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(four, _mm_shuffle_ps(four, four, 1)));
}

/* Add what a sublayer gives to its input, and normalise the sum. */
TARGET static void NAME(add_and_norm)(Decoder *d, const float *added) {
    const float *scale = d->norm, *bias = d->norm + d->dim;
    d->norm += 2 * d->dim;
    for (Py_ssize_t row = 0; row < d->rows; row++) {
        float *x = d->x + row * d->dim;
        const float *y = added + row * d->dim;
        __m256 total = _mm256_setzero_ps(), squares = _mm256_setzero_ps();
        for (Py_ssize_t i = 0; i < d->dim; i += 8) {
            __m256 sum = _mm256_add_ps(_mm256_loadu_ps(x + i), _mm256_loadu_ps(y + i));
            total = _mm256_add_ps(total, sum);
            _mm256_storeu_ps(x + i, sum);
        }
        __m256 mean = _mm256_set1_ps(NAME(add_lanes)(total) / (float)d->dim);
        for (Py_ssize_t i = 0; i < d->dim; i += 8) {
            __m256 apart = _mm256_sub_ps(_mm256_loadu_ps(x + i), mean);
            squares = _mm256_fmadd_ps(apart, apart, squares);
            _mm256_storeu_ps(x + i, apart);
        }
        float variance = NAME(add_lanes)(squares) / (float)d->dim;
        __m256 factor = _mm256_set1_ps(1.0f / sqrtf(variance + d->epsilon));
        for (Py_ssize_t i = 0; i < d->dim; i += 8) {
            __m256 each = _mm256_mul_ps(_mm256_loadu_ps(x + i), factor);
            each = _mm256_fmadd_ps(each, _mm256_loadu_ps(scale + i), _mm256_loadu_ps(bias + i));
            _mm256_storeu_ps(x + i, each);
        }
    }
}

/* The cell of a layer, c = f c' + (1 - f) xW, and what is positive of it. */
TARGET static void NAME(ssru)(Decoder *d, Py_ssize_t layer) {
    const __m256 one = _mm256_set1_ps(1.0f), sign = _mm256_set1_ps(-0.0f);
    NAME(dense)(d, d->x, d->dim, 2 * d->dim, 128.0f, d->wide);
    for (Py_ssize_t row = 0; row < d->rows; row++) {
        const float *new = d->wide + 2 * row * d->dim, *gate = new + d->dim;
        const float *past = FLOATS(d->state) + (layer * d->past + INTS(d->parents)[row]) * d->dim;
        float *cell = FLOATS(d->next) + (layer * d->rows + row) * d->dim, *y = d->y + row * d->dim;
        for (Py_ssize_t i = 0; i < d->dim; i += 8) {
            __m256 z = _mm256_loadu_ps(gate + i), fresh = _mm256_loadu_ps(new + i);
            __m256 power = NAME(exp)(_mm256_or_ps(z, sign)); /* of minus its magnitude */
            __m256 above = _mm256_blendv_ps(one, power, z);
            __m256 forget = _mm256_div_ps(above, _mm256_add_ps(one, power));
            __m256 change = _mm256_sub_ps(_mm256_loadu_ps(past + i), fresh);
            __m256 each = _mm256_add_ps(fresh, _mm256_mul_ps(forget, change));
            _mm256_storeu_ps(cell + i, each);
            _mm256_storeu_ps(y + i, _mm256_max_ps(each, _mm256_setzero_ps()));
        }
    }
    NAME(add_and_norm)(d, d->y);
}

/* How much a head of a row looks at each source token. The keys of a head lie by dimension, and
   there is room for a multiple of sixteen tokens. */
TARGET static void NAME(look)(
    const float *query, const float *keys, Py_ssize_t size, Py_ssize_t stride, Py_ssize_t length,
    float *weights
) {
    __m256 max = _mm256_set1_ps(CLOSED), total = _mm256_setzero_ps();
    for (Py_ssize_t t = 0; t < length; t += 16) {
        __m256 low = _mm256_setzero_ps(), high = _mm256_setzero_ps();
        __m256 low2 = _mm256_setzero_ps(), high2 = _mm256_setzero_ps();
        for (Py_ssize_t i = 0; i < size; i += 2) {
            __m256 q = _mm256_set1_ps(query[i]), q2 = _mm256_set1_ps(query[i + 1]);
            const float *at = keys + i * stride + t;
            low = _mm256_fmadd_ps(q, _mm256_loadu_ps(at), low);
            high = _mm256_fmadd_ps(q, _mm256_loadu_ps(at + 8), high);
            low2 = _mm256_fmadd_ps(q2, _mm256_loadu_ps(at + stride), low2);
            high2 = _mm256_fmadd_ps(q2, _mm256_loadu_ps(at + stride + 8), high2);
        }
        _mm256_storeu_ps(weights + t, _mm256_add_ps(low, low2));
        _mm256_storeu_ps(weights + t + 8, _mm256_add_ps(high, high2));
    }
    Py_ssize_t end = (length + 15) / 16 * 16;
    for (Py_ssize_t t = length; t < end; t++) weights[t] = CLOSED;
    for (Py_ssize_t t = 0; t < end; t += 8) max = _mm256_max_ps(max, _mm256_loadu_ps(weights + t));
    float eight[8], largest = CLOSED;
    _mm256_storeu_ps(eight, max);
    for (int i = 0; i < 8; i++) largest = eight[i] > largest ? eight[i] : largest;
    max = _mm256_set1_ps(largest);
    for (Py_ssize_t t = 0; t < end; t += 8) {
        __m256 power = NAME(exp)(_mm256_sub_ps(_mm256_loadu_ps(weights + t), max));
        total = _mm256_add_ps(total, power);
        _mm256_storeu_ps(weights + t, power);
    }
    __m256 share = _mm256_set1_ps(1.0f / NAME(add_lanes)(total));
    for (Py_ssize_t t = 0; t < end; t += 8)
        _mm256_storeu_ps(weights + t, _mm256_mul_ps(_mm256_loadu_ps(weights + t), share));
}

/* Attention of all rows to their sources. */
TARGET static void NAME(attend)(Decoder *d, Py_ssize_t layer) {
    Py_ssize_t size = d->dim / d->heads;
    float factor = 1.0f / sqrtf((float)size);
    NAME(dense)(d, d->x, d->dim, d->dim, 128.0f, d->y);
    for (Py_ssize_t i = 0; i < d->rows * d->dim; i++) d->y[i] *= factor;
    for (Py_ssize_t row = 0; row < d->rows; row++) {
        int64_t sentence = INTS(d->sentence)[row], length = INTS(d->lengths)[sentence];
        for (Py_ssize_t head = 0; head < d->heads; head++) {
            Py_ssize_t at = ((layer * d->sentences + sentence) * d->heads + head) * size * d->time;
            const float *values = FLOATS(d->values) + at;
            float *to = d->wide + row * d->dim + head * size;
            NAME(look)(d->y + row * d->dim + head * size, FLOATS(d->keys) + at, size, d->time, length,
                       d->weights);
            if (d->attention.data && layer == d->attended_layer) write_attention(d, row, head, length);
            for (Py_ssize_t i = 0; i < size; i += 16) {
                __m256 low = _mm256_setzero_ps(), high = _mm256_setzero_ps();
                for (Py_ssize_t t = 0; t < length; t++) {
                    __m256 weight = _mm256_set1_ps(d->weights[t]);
                    low = _mm256_fmadd_ps(weight, _mm256_loadu_ps(values + t * size + i), low);
                    high = _mm256_fmadd_ps(weight, _mm256_loadu_ps(values + t * size + i + 8), high);
                }
                _mm256_storeu_ps(to + i, low);
                _mm256_storeu_ps(to + i + 8, high);
            }
        }
    }
    NAME(dense)(d, d->wide, d->dim, d->dim, 128.0f, d->y);
    NAME(add_and_norm)(d, d->y);
}

TARGET static void NAME(take_step)(Decoder *d) {
    for (Py_ssize_t row = 0; row < d->rows; row++) {
        int64_t token = INTS(d->tokens)[row];
        int known = token < d->table_scale.length; /* the id behind the last has no embedding */
        const int8_t *values = (const int8_t *)d->table.data + (known ? token * d->dim : 0);
        float scale = known ? FLOATS(d->table_scale)[token] : 0.0f;
        for (Py_ssize_t i = 0; i < d->dim; i++)
            d->x[row * d->dim + i] = (float)values[i] * scale + FLOATS(d->position)[i];
    }
    for (Py_ssize_t layer = 0; layer < d->layers; layer++) {
        NAME(ssru)(d, layer);
        NAME(attend)(d, layer);
        NAME(dense)(d, d->x, d->dim, d->inner, 128.0f, d->wide);
        NAME(dense)(d, d->wide, d->inner, d->dim, 0.0f, d->y);
        NAME(add_and_norm)(d, d->y);
    }
}
