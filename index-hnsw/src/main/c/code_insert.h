/*
 * Insertion by distances of codes; see insert_body.h. Included after code_body.h. Both nodes of a pair are compared by their
 * codes, so that a search and a choice among its results measure a pair alike.
 */
#include <string.h>

#include "insert.h"

struct origin {
    /* The node's codes as the weights of a query. */
    int8_t weights[MAX_DIMENSIONS] __attribute__((aligned(64)));
    int32_t start;
    float term;
    float slope;
};

/* Writes a node's codes as weights, padded as these must be; returns -128 times their sum. */
INLINE int32_t write_weights(const struct image *image, int64_t node, int8_t *restrict weights) {
    const uint8_t *codes = record(image, node);
    const int32_t padded = (image->dimension + CODE_LANES - 1) / CODE_LANES * CODE_LANES;
    /* In runs of constant length, which the compiler does at once; a record is whole runs. */
    for (int32_t from = 0; from < padded; from += CODE_LANES) {
        for (int i = 0; i < CODE_LANES; i++) weights[from + i] = (int8_t)(codes[from + i] ^ 0x80);
    }
    memset(weights + image->dimension, 0, padded - image->dimension);
    int32_t sum = 0;
    for (int32_t from = 0; from < padded; from += CODE_LANES) {
        int16_t part = 0;
        for (int i = 0; i < CODE_LANES; i++) part = (int16_t)(part + weights[from + i]);
        sum += part;
    }
    return -128 * sum;
}

INLINE void set_origin(const struct image *image, int64_t node, struct origin *origin) {
    const float *of_node = factors(image, node);
    origin->start = write_weights(image, node, origin->weights);
    origin->term = of_node[0];
    origin->slope = -2 * of_node[1];
}

INLINE void measure_from(const struct image *image, const struct origin *origin, const int32_t *nodes,
                         float *distances) {
    const int64_t bytes = ((int64_t)image->dimension + CODE_LANES - 1) / CODE_LANES * CODE_LANES;
    const uint8_t *rows[TILE];
    int32_t sums[TILE] __attribute__((aligned(16)));
    for (int row = 0; row < TILE; row++) rows[row] = record(image, nodes[row]);
    sum_tile(rows, origin->weights, bytes, origin->start, sums);
    for (int row = 0; row < TILE; row++) {
        const float *of_row = factors(image, nodes[row]);
        distances[row] = of_row[0] + origin->slope * (of_row[1] * (float)sums[row]) + origin->term;
    }
}

INLINE void set_query(const struct insert *insert) {
    const struct search *search = insert->search;
    const struct image *image = insert->build->image;
    search->progress->parts = 1;
    search->progress->starts[0] = write_weights(image, insert->node, search->weights);
    search->progress->slope = -2 * factors(image, insert->node)[1];
}

INLINE float shift_of(const struct insert *insert) { return factors(insert->build->image, insert->node)[0]; }

#include "insert_body.h"
