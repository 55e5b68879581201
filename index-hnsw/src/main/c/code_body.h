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

INLINE const float *term(const struct image *image, int64_t node) {
    return (const float *)(image->base + image->terms_at) + node;
}

INLINE void prefetch_row(const struct image *image, int64_t node) {
    prefetch_bytes(record(image, node), image->dimension);
    __builtin_prefetch(term(image, node));
}

INLINE void measure(const struct search *search, int32_t *nodes, int32_t count, float *distances) {
    const struct image *image = search->image;
    int64_t bytes = ((int64_t)image->dimension + CODE_LANES - 1) / CODE_LANES * CODE_LANES;
    for (int32_t i = count; i % TILE != 0; i++) nodes[i] = nodes[count - 1];
    for (int32_t i = 0; i < count; i += TILE) {
        for (int32_t ahead = i + AHEAD; ahead < i + AHEAD + TILE && ahead < count; ahead++) {
            prefetch_row(image, nodes[ahead]);
        }
        const uint8_t *rows[TILE];
        int32_t sums[TILE] __attribute__((aligned(16)));
        for (int row = 0; row < TILE; row++) rows[row] = record(image, nodes[i + row]);
        sum_tile(rows, search->high, bytes, search->high_start, sums);
        for (int row = 0; row < TILE; row++) distances[i + row] = (float)sums[row];
        if (search->low != 0) {
            int32_t lows[TILE] __attribute__((aligned(16)));
            sum_tile(rows, search->low, bytes, search->low_start, lows);
            for (int row = 0; row < TILE; row++) {
                distances[i + row] = (float)((int64_t)sums[row] * HIGH_UNIT + lows[row]);
            }
        }
        for (int row = 0; row < TILE; row++) {
            distances[i + row] = *term(image, nodes[i + row]) + search->slope * distances[i + row];
        }
    }
    search->progress->computed += count;
}

#include "search_body.h"
