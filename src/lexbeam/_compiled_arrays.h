/* Arrays that Python gives to compiled functions, by the buffer protocol. */

#ifndef LEXBEAM_COMPILED_ARRAYS
#define LEXBEAM_COMPILED_ARRAYS

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

#define NO_BUFFERS {.count = 0, .rooms_taken = 0, .failed = 0}

static inline void close_buffers(Buffers *buffers) {
    for (int i = 0; i < buffers->count; i++) PyBuffer_Release(&buffers->views[i]);
    for (int i = 0; i < buffers->rooms_taken; i++) free(buffers->rooms[i]);
    buffers->count = buffers->rooms_taken = 0;
}

/* Return room for so many things, which is freed with the buffers; NULL if something has failed. */
static inline void *take_room(Buffers *buffers, Py_ssize_t number, size_t size) {
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
   precision, 'f' for float32, 'm' for int32, 'b' for what takes a byte. None gives an array
   without data. */
static inline Array open_array(Buffers *buffers, PyObject *object, char kind, int writable) {
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
               : kind == 'f' ? format == 'f'
               : kind == 's' ? format == 'd' || format == 'f'
               : kind == 'm' ? view->itemsize == 4 && strchr("il", format) != NULL
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

/* Open several arrays; `kinds` has a letter for each, a capital one if it is written to. */
static inline void open_all(Buffers *buffers, PyObject *const *args, const char *kinds,
                            Array *const *arrays) {
    for (int i = 0; kinds[i]; i++) {
        int writable = kinds[i] < 'a';
        char kind = (char)(writable ? kinds[i] - 'A' + 'a' : kinds[i]);
        *arrays[i] = open_array(buffers, args[i], kind, writable);
    }
}

#define ARRAYS(...) ((Array *const[]){__VA_ARGS__, NULL})

/* Whether all arrays of a list have so many entries. */
static inline int all_have(Py_ssize_t length, Array *const *arrays) {
    for (; *arrays; arrays++)
        if ((*arrays)->length != length) return 0;
    return 1;
}

/* Whether an array has so many entries, or is not given. */
static inline int has_or_none(const Array *array, Py_ssize_t length) {
    return !array->data || array->length == length;
}

static inline int refuse_unless(Buffers *buffers, int fits, const char *name) {
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
#define FLOATS(array) ((float *)(array).data)
#define FLAGS(array) ((unsigned char *)(array).data)

/* Return 0 if a function has been given so many arguments. */
static inline int refuse_count(Py_ssize_t given, Py_ssize_t number, const char *name) {
    if (given == number) return 0;
    PyErr_Format(PyExc_TypeError, "%s takes %zd arguments, not %zd", name, number, given);
    return -1;
}

static inline int read_double(PyObject *object, double *number) {
    *number = PyFloat_AsDouble(object);
    return *number == -1.0 && PyErr_Occurred() ? -1 : 0;
}

static inline int read_size(PyObject *object, Py_ssize_t *size) {
    *size = PyNumber_AsSsize_t(object, PyExc_OverflowError);
    return *size == -1 && PyErr_Occurred() ? -1 : 0;
}

/* Functions of a module, and what its source was when it was compiled. */
#define FUNCTION(name, function) {name, (PyCFunction)(void (*)(void))function, METH_FASTCALL, NULL}

#ifndef SOURCE_CHECKSUM
#define SOURCE_CHECKSUM 0u
#endif

static inline int add_checksum(PyObject *module) {
    PyObject *checksum = PyLong_FromUnsignedLong(SOURCE_CHECKSUM);
    int fault = checksum == NULL || PyModule_AddObjectRef(module, "CHECKSUM", checksum);
    Py_XDECREF(checksum);
    return fault;
}

#endif
