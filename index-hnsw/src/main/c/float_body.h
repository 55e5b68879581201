/*
 * Graph search, scan and rerank over float vectors, generic over the vec of an instruction set (see vec.h), which the source
 * includes first. It also defines SEARCH, SCAN and RERANK, the names of the functions to define.
 */
#include "tile.h"

#define AHEAD TILE

INLINE const float *vector(const struct image *image, int64_t node) {
    return (const float *)(image->base + image->vectors_at + node * image->vector_stride);
}

INLINE void prefetch_row(const struct image *image, int64_t node) {
    prefetch_bytes((const uint8_t *)vector(image, node), (int64_t)image->dimension * sizeof(float));
}

INLINE void measure_tile(const struct image *image, const float *query, const int inner_product, const int32_t *nodes,
                         float *distances) {
    const float *row[TILE];
    for (int i = 0; i < TILE; i++) row[i] = vector(image, nodes[i]);
    vec sums[TILE] = {vec_zero(), vec_zero(), vec_zero(), vec_zero()};
    int64_t whole = image->dimension / LANES * LANES;
    for (int64_t at = 0; at < whole; at += LANES) {
        vec q = vec_load(query + at);
#pragma GCC unroll 4
        for (int i = 0; i < TILE; i++) {
            vec r = vec_load(row[i] + at);
            vec d = inner_product ? r : vec_sub(q, r);
            sums[i] = vec_fma(inner_product ? q : d, d, sums[i]);
        }
    }
    int rest = (int)(image->dimension - whole);
    if (rest > 0) {
        vec q = vec_load(query + whole);
#pragma GCC unroll 4
        for (int i = 0; i < TILE; i++) {
            vec r = vec_load_part(row[i] + whole, rest);
            vec d = inner_product ? r : vec_sub(q, r);
            sums[i] = vec_fma(inner_product ? q : d, d, sums[i]);
        }
    }
    fold_four(sums, distances);
    if (inner_product) {
        for (int i = 0; i < TILE; i++) distances[i] = 0.0f - distances[i];
    }
}

/* Distances of the query from `count` nodes; the lists have room up to a multiple of TILE. */
INLINE void measure(const struct search *search, int32_t *nodes, int32_t count, float *distances) {
    for (int32_t i = count; i % TILE != 0; i++) nodes[i] = nodes[count - 1];
    for (int32_t i = 0; i < count; i += TILE) {
        for (int32_t ahead = i + AHEAD; ahead < i + AHEAD + TILE && ahead < count; ahead++) {
            prefetch_row(search->image, nodes[ahead]);
        }
        if (search->inner_product) {
            measure_tile(search->image, search->query, 1, nodes + i, distances + i);
        } else {
            measure_tile(search->image, search->query, 0, nodes + i, distances + i);
        }
    }
    search->progress->computed += count;
}

#include "search_body.h"

void SCAN(const struct search *search, int64_t to) {
    if (scan_nodes(search, to)) search->progress->phase = SORTING;
}

/* The budget is in distances by codes, and a vector has four times as many bytes. */
#define RERANK_COST 4

void RERANK(const struct search *search) {
    struct progress *progress = search->progress;
    int32_t nodes[SCAN_RUN];
    float distances[SCAN_RUN] __attribute__((aligned(64)));
    const int32_t max = search->budget / RERANK_COST < SCAN_RUN ? search->budget / RERANK_COST : SCAN_RUN;
    const int32_t last_third = progress->size - progress->size / 3;
    while (progress->next < progress->size && progress->left > 0) {
        const int32_t from = (int32_t)progress->next;
        const int32_t count = progress->size - from < max ? progress->size - from : max;
        for (int32_t i = 0; i < count; i++) nodes[i] = node_of(search->found[from + i]);
        for (int32_t i = 0; i < count && i < AHEAD; i++) prefetch_row(search->image, nodes[i]);
        measure(search, nodes, count, distances);
        for (int32_t i = 0; i < count; i++) {
            const int64_t entry = key(distances[i], nodes[i]);
            if (from + i >= last_third && entry < progress->nearest) progress->nearest = entry;
            push_farthest(search->found, from + i, entry);
        }
        progress->next += count;
        progress->left -= RERANK_COST * count;
    }
    if (progress->next == progress->size) progress->phase = SORTING_AGAIN;
}
