/*
 * The graph search over SQ8 codes, one byte per component, with integer weights for the query's components (see codes.c). The
 * including source defines
 *   sum_tile(rows, weights, bytes, start, sums)  per row of a tile the sum of weight times (code - 128) over `bytes`
 *                                                components, a multiple of CODE_LANES; `start` is -128 times the
 *                                                sum of the weights
 *   SEARCH                                       the name of the function to define
 *
 * Bytes after a row's last code belong to other fields of the record; their weights are zero. Integer sums are exact, so all
 * implementations give the same result.
 */
#include "tile.h"

/* A distance by codes is much faster than a read from memory, so several tiles are prefetched. */
#define AHEAD (4 * TILE)

/* A node's term, and after it its scale. */
INLINE const float *factors(const struct image *image, int64_t node) {
    return (const float *)(image->base + image->terms_at) + 2 * node;
}

INLINE void prefetch_row(const struct image *image, int64_t node) {
    prefetch_bytes(record(image, node), image->dimension);
    __builtin_prefetch(factors(image, node));
}

/* The sums of a tile of rows over all parts of the weights, as floats. */
INLINE void add_parts(const struct search *search, const uint8_t *const *rows, int64_t bytes, const int32_t *sums,
                      float *whole) {
    int64_t totals[TILE];
    for (int row = 0; row < TILE; row++) totals[row] = sums[row];
    for (int32_t part = 1; part < search->progress->parts; part++) {
        int32_t more[TILE] __attribute__((aligned(16)));
        sum_tile(rows, search->weights + part * MAX_DIMENSIONS, bytes, search->progress->starts[part], more);
        for (int row = 0; row < TILE; row++) totals[row] = totals[row] * PART_UNIT + more[row];
    }
    for (int row = 0; row < TILE; row++) whole[row] = (float)totals[row];
}

INLINE void measure(const struct search *search, int32_t *nodes, int32_t count, float *distances) {
    const struct image *image = search->image;
    const float slope = search->progress->slope;
    const int32_t start = search->progress->starts[0];
    const int32_t parts = search->progress->parts;
    int64_t bytes = ((int64_t)image->dimension + CODE_LANES - 1) / CODE_LANES * CODE_LANES;
    for (int32_t i = count; i % TILE != 0; i++) nodes[i] = nodes[count - 1];
    for (int32_t i = 0; i < count; i += TILE) {
        for (int32_t ahead = i + AHEAD; ahead < i + AHEAD + TILE && ahead < count; ahead++) {
            prefetch_row(image, nodes[ahead]);
        }
        const uint8_t *rows[TILE];
        int32_t sums[TILE] __attribute__((aligned(16)));
        for (int row = 0; row < TILE; row++) rows[row] = record(image, nodes[i + row]);
        sum_tile(rows, search->weights, bytes, start, sums);
        float whole[TILE];
        for (int row = 0; row < TILE; row++) whole[row] = (float)sums[row];
        if (parts > 1) add_parts(search, rows, bytes, sums, whole);
        for (int row = 0; row < TILE; row++) {
            const float *of_row = factors(image, nodes[i + row]);
            distances[i + row] = of_row[0] + slope * (of_row[1] * whole[row]);
        }
    }
    search->progress->computed += count;
}

#include "search_body.h"
