/*
 * The walk itself, written once over the vector type of the source that includes it. That source defines
 *   vec                         LANES floats
 *   vec_zero, vec_load, vec_sub, vec_fma(a, b, sum)
 *   vec_load_part(at, count)    the first `count` lanes, from 1 to LANES - 1, zero in the others
 *   fold(sums, out)             the sum of each of four vectors' lanes: halves are added, then quarters, and so on
 *   WALK, SCAN                  the names of the functions to define
 *
 * All unvisited neighbours of a node are collected and prefetched first, then measured four at a time: while four are
 * summed, the next are on their way from memory.
 */
#include "heap.h"

#define INLINE static inline __attribute__((always_inline))
#define TILE 4
#define CACHE_LINE 64

INLINE const uint8_t *record(const struct image *image, int64_t node) {
    return (const uint8_t *)image + image->nodes_at + node * image->stride;
}

INLINE const int32_t *neighbors(const struct image *image, int64_t node) {
    return (const int32_t *)(record(image, node) + (int64_t)image->dimension * sizeof(float));
}

INLINE void prefetch_row(const struct image *image, int64_t node) {
    const uint8_t *row = record(image, node);
    int64_t bytes = (int64_t)image->dimension * sizeof(float);
    /* Of a long row the hardware fetches the rest once it sees the beginning being read. */
    if (bytes > 16 * CACHE_LINE) bytes = 16 * CACHE_LINE;
    for (int64_t at = 0; at < bytes; at += CACHE_LINE) __builtin_prefetch(row + at);
}

INLINE void measure_tile(const struct search *search, const int inner_product, const int32_t *nodes, float *distances) {
    const struct image *image = search->image;
    const float *row[TILE];
    for (int i = 0; i < TILE; i++) row[i] = (const float *)record(image, nodes[i]);
    vec sums[TILE] = {vec_zero(), vec_zero(), vec_zero(), vec_zero()};
    int64_t whole = image->dimension / LANES * LANES;
    for (int64_t at = 0; at < whole; at += LANES) {
        vec q = vec_load(search->query + at);
#pragma GCC unroll 4
        for (int i = 0; i < TILE; i++) {
            vec r = vec_load(row[i] + at);
            vec d = inner_product ? r : vec_sub(q, r);
            sums[i] = vec_fma(inner_product ? q : d, d, sums[i]);
        }
    }
    int rest = (int)(image->dimension - whole);
    if (rest > 0) {
        vec q = vec_load(search->query + whole);
#pragma GCC unroll 4
        for (int i = 0; i < TILE; i++) {
            vec r = vec_load_part(row[i] + whole, rest);
            vec d = inner_product ? r : vec_sub(q, r);
            sums[i] = vec_fma(inner_product ? q : d, d, sums[i]);
        }
    }
    fold(sums, distances);
    if (inner_product) {
        for (int i = 0; i < TILE; i++) distances[i] = 0.0f - distances[i];
    }
}

/* Distances of the query from `count` nodes; the lists have room up to a multiple of TILE. */
INLINE void measure(const struct search *search, int32_t *nodes, int32_t count, float *distances) {
    for (int32_t i = count; i % TILE != 0; i++) nodes[i] = nodes[count - 1];
    for (int32_t i = 0; i < count; i += TILE) {
        for (int32_t ahead = i + TILE; ahead < i + 2 * TILE && ahead < count; ahead++) {
            prefetch_row(search->image, nodes[ahead]);
        }
        if (search->inner_product) {
            measure_tile(search, 1, nodes + i, distances + i);
        } else {
            measure_tile(search, 0, nodes + i, distances + i);
        }
    }
    *search->computed += count;
}

/* The most neighbours of a node, and some room for whole tiles. */
#define MOST_NEIGHBORS (512 + TILE)

/* The entry nearest the query that going to ever nearer neighbours leads to, layer by layer down to layer 1. */
INLINE int64_t descend(const struct search *search) {
    const struct image *image = search->image;
    int32_t nodes[MOST_NEIGHBORS];
    float distances[MOST_NEIGHBORS] __attribute__((aligned(64)));
    nodes[0] = 0;
    measure(search, nodes, 1, distances);
    int64_t nearest = key(distances[0], 0);
    for (int32_t level = image->levels; level >= 1; level--) {
        const int32_t *lists = (const int32_t *)((const uint8_t *)image + image->upper_at);
        for (int32_t below = 1; below < level; below++) {
            lists += (int64_t)image->level_counts[below - 1] * image->upper_degree;
        }
        int64_t from;
        do {
            from = nearest;
            const int32_t *list = lists + (int64_t)node_of(from) * image->upper_degree;
            int32_t count = 0;
            while (count < image->upper_degree && list[count] >= 0) {
                nodes[count] = list[count];
                prefetch_row(image, nodes[count]);
                count++;
            }
            if (count == 0) break;
            measure(search, nodes, count, distances);
            for (int32_t i = 0; i < count; i++) {
                int64_t entry = key(distances[i], nodes[i]);
                if (entry < nearest) nearest = entry;
            }
        } while (nearest != from);
    }
    return nearest;
}

INLINE int allows(const uint64_t *allowed, int64_t node) {
    return allowed == 0 || (allowed[node / 64] >> (node % 64) & 1);
}

/* Adds an entry to the nearest `width` found so far; returns how many there are then. */
INLINE int32_t keep(const struct search *search, int32_t size, int64_t entry) {
    if (size < search->width) {
        push_farthest(search->found, size, entry);
        return size + 1;
    }
    if (entry < search->found[0]) replace_farthest(search->found, size, entry);
    return size;
}

int32_t WALK(const struct search *search) {
    const struct image *image = search->image;
    uint64_t *visited = search->visited;
    int64_t *candidates = search->candidates;
    int32_t nodes[MOST_NEIGHBORS];
    float distances[MOST_NEIGHBORS] __attribute__((aligned(64)));
    int64_t waiting = 0;
    int64_t logged = 0;
    int32_t size = 0;

    int64_t start = descend(search);
    int32_t first = node_of(start);
    visited[first / 64] |= 1ull << (first % 64);
    search->log[logged++] = first;
    push_nearest(candidates, waiting++, start);
    if (allows(search->allowed, first)) size = keep(search, size, start);

    while (waiting > 0) {
        int64_t nearest = pop_nearest(candidates, waiting--);
        if (size == search->width && nearest > search->found[0]) break;

        const int32_t *list = neighbors(image, node_of(nearest));
        int32_t count = 0;
        for (int32_t i = 0; i < image->degree && list[i] >= 0; i++) {
            int32_t node = list[i];
            uint64_t bit = 1ull << (node % 64);
            if (visited[node / 64] & bit) continue;
            visited[node / 64] |= bit;
            search->log[logged++] = node;
            if (count < TILE) prefetch_row(image, node);
            nodes[count++] = node;
        }
        if (count == 0) continue;
        measure(search, nodes, count, distances);

        for (int32_t i = 0; i < count; i++) {
            int64_t entry = key(distances[i], nodes[i]);
            /* With all of the width found, what is farther can neither be kept nor lead on. */
            if (size == search->width && entry > search->found[0]) continue;
            push_nearest(candidates, waiting++, entry);
            if (allows(search->allowed, nodes[i])) size = keep(search, size, entry);
        }
        if (waiting > 0) __builtin_prefetch(neighbors(image, node_of(candidates[0])));
    }

    for (int64_t i = 0; i < logged; i++) visited[search->log[i] / 64] = 0;
    sort_farthest(search->found, size);
    return size;
}

/* How many rows a scan measures together. */
#define SCAN_RUN (16 * TILE)

int32_t SCAN(const struct search *search, int64_t from, int64_t to) {
    int32_t nodes[SCAN_RUN];
    float distances[SCAN_RUN] __attribute__((aligned(64)));
    int32_t size = 0;
    int32_t count = 0;
    for (int64_t node = from; node < to; node++) {
        if (search->allowed != 0 && search->allowed[node / 64] == 0) {
            node |= 63;
            continue;
        }
        if (allows(search->allowed, node)) nodes[count++] = (int32_t)node;
        if (count == SCAN_RUN) {
            measure(search, nodes, count, distances);
            for (int32_t i = 0; i < count; i++) size = keep(search, size, key(distances[i], nodes[i]));
            count = 0;
        }
    }
    if (count > 0) {
        measure(search, nodes, count, distances);
        for (int32_t i = 0; i < count; i++) size = keep(search, size, key(distances[i], nodes[i]));
    }
    sort_farthest(search->found, size);
    return size;
}
