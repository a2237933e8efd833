/* A step of a decoder with SSRU cells, computed with one set of instructions.

Included once for each, behind `_network_products.h`. */

/* Multiply all rows by the next matrix and add its bias. */
TARGET static void NAME(dense)(
    Decoder *d, const float *from, Py_ssize_t inputs, Py_ssize_t outputs, float zero, float *to
) {
    Matrix m = next_matrix(d, inputs, outputs);
    int32_t sums[ROWS_AT_ONCE][TILE], no_offset[LANES] = {0};
    for (Py_ssize_t row = 0; row < d->rows; row++)
        NAME(quantise)(from + row * inputs, inputs, m.step, 0.0f, 0, zero, d->bytes + row * inputs);
    for (Py_ssize_t at = 0; at < outputs; at += TILE) {
        Py_ssize_t number = outputs - at < TILE ? outputs - at : TILE;
        for (Py_ssize_t first = 0; first < d->rows; first += ROWS_AT_ONCE) {
            Py_ssize_t rows = d->rows - first < ROWS_AT_ONCE ? d->rows - first : ROWS_AT_ONCE;
            const unsigned char *x = d->bytes + first * inputs;
            NAME(multiply_tile)(m.packed + at * inputs, x, inputs, rows, number, sums);
            for (Py_ssize_t i = 0; i < number; i += LANES) {
                Ints offset = LOAD_INTS(zero == 0.0f ? no_offset : m.offset + at + i);
                Floats scale = F(loadu)(m.scale + at + i), bias = F(loadu)(m.bias + at + i);
                for (Py_ssize_t r = 0; r < rows; r++) {
                    Ints sum = LOAD_INTS(sums[r] + i);
                    Floats each = TO_FLOATS(ADD_INTS(sum, offset));
                    each = F(add)(F(mul)(each, scale), bias);
                    F(storeu)(to + (first + r) * outputs + at + i, each);
                }
            }
        }
    }
}

/* Add what a sublayer gives to its input, and normalise the sum. */
TARGET static void NAME(add_and_norm)(Decoder *d, const float *added) {
    const float *scale = d->norm, *bias = d->norm + d->dim;
    d->norm += 2 * d->dim;
    for (Py_ssize_t row = 0; row < d->rows; row++) {
        float *x = d->x + row * d->dim;
        const float *y = added + row * d->dim;
        Floats total = F(setzero)(), squares = F(setzero)();
        for (Py_ssize_t i = 0; i < d->dim; i += LANES) {
            Floats sum = F(add)(F(loadu)(x + i), F(loadu)(y + i));
            total = F(add)(total, sum);
            F(storeu)(x + i, sum);
        }
        Floats mean = F(set1)(ADD_UP(total) / (float)d->dim);
        for (Py_ssize_t i = 0; i < d->dim; i += LANES) {
            Floats apart = F(sub)(F(loadu)(x + i), mean);
            squares = F(fmadd)(apart, apart, squares);
            F(storeu)(x + i, apart);
        }
        float variance = ADD_UP(squares) / (float)d->dim;
        Floats factor = F(set1)(1.0f / sqrtf(variance + d->epsilon));
        for (Py_ssize_t i = 0; i < d->dim; i += LANES) {
            Floats each = F(mul)(F(loadu)(x + i), factor);
            each = F(fmadd)(each, F(loadu)(scale + i), F(loadu)(bias + i));
            F(storeu)(x + i, each);
        }
    }
}

/* The cell of a layer, c = f c' + (1 - f) xW, and what is positive of it. */
TARGET static void NAME(ssru)(Decoder *d, Py_ssize_t layer) {
    const Floats one = F(set1)(1.0f), none = F(setzero)();
    NAME(dense)(d, d->x, d->dim, 2 * d->dim, 128.0f, d->wide);
    for (Py_ssize_t row = 0; row < d->rows; row++) {
        const float *new = d->wide + 2 * row * d->dim, *gate = new + d->dim;
        const float *past = FLOATS(d->state) + (layer * d->past + INTS(d->parents)[row]) * d->dim;
        float *cell = FLOATS(d->next) + (layer * d->rows + row) * d->dim, *y = d->y + row * d->dim;
        for (Py_ssize_t i = 0; i < d->dim; i += LANES) {
            Floats z = F(loadu)(gate + i), fresh = F(loadu)(new + i);
            Floats power = NAME(exp)(F(min)(z, F(sub)(none, z))); /* of minus its magnitude */
            Floats above = WHERE_BELOW_0(z, power, one);
            Floats forget = F(div)(above, F(add)(one, power));
            Floats change = F(sub)(F(loadu)(past + i), fresh);
            Floats each = F(add)(fresh, F(mul)(forget, change));
            F(storeu)(cell + i, each);
            F(storeu)(y + i, F(max)(each, none));
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
    Py_ssize_t end = (length + BLOCK - 1) / BLOCK * BLOCK;
    Floats max = F(set1)(CLOSED), total = F(setzero)();
    for (Py_ssize_t t = 0; t < end; t += LANES) {
        Floats sums[4] = {F(setzero)(), F(setzero)(), F(setzero)(), F(setzero)()};
        for (Py_ssize_t i = 0; i < size; i += 4)
            for (int j = 0; j < 4; j++) {
                Floats key = F(loadu)(keys + (i + j) * stride + t);
                sums[j] = F(fmadd)(F(set1)(query[i + j]), key, sums[j]);
            }
        F(storeu)(weights + t, F(add)(F(add)(sums[0], sums[1]), F(add)(sums[2], sums[3])));
    }
    for (Py_ssize_t t = length; t < end; t++) weights[t] = CLOSED;
    for (Py_ssize_t t = 0; t < end; t += LANES) max = F(max)(max, F(loadu)(weights + t));
    max = F(set1)(LARGEST(max));
    for (Py_ssize_t t = 0; t < end; t += LANES) {
        Floats power = NAME(exp)(F(sub)(F(loadu)(weights + t), max));
        total = F(add)(total, power);
        F(storeu)(weights + t, power);
    }
    Floats share = F(set1)(1.0f / ADD_UP(total));
    for (Py_ssize_t t = 0; t < end; t += LANES)
        F(storeu)(weights + t, F(mul)(F(loadu)(weights + t), share));
    for (Py_ssize_t t = length; t < end; t++) weights[t] = 0.0f;
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
            for (Py_ssize_t i = 0; i < size; i += LANES) {
                Floats sums[4] = {F(setzero)(), F(setzero)(), F(setzero)(), F(setzero)()};
                for (Py_ssize_t t = 0; t < length; t += 4)
                    for (int j = 0; j < 4; j++) {
                        Floats value = F(loadu)(values + (t + j) * size + i);
                        sums[j] = F(fmadd)(F(set1)(d->weights[t + j]), value, sums[j]);
                    }
                F(storeu)(to + i, F(add)(F(add)(sums[0], sums[1]), F(add)(sums[2], sums[3])));
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
