/*
 * The walk itself, written once over what the source that includes it measures. That source defines
 *   prefetch_row(image, node)                    has what measuring the node reads fetched from memory
 *   measure(search, nodes, count, distances)     distances of the query from nodes; both lists have room up to a
 *                                                multiple of TILE
 *   AHEAD                                        how many rows are fetched before the first is measured
 *   WALK                                         the name of the function to define
 *
 * All unvisited neighbours of a node are collected and prefetched first, then measured some at a time: while these are
 * summed, the next are on their way from memory.
 */
#ifndef ROOST_WALK_BODY_H
#define ROOST_WALK_BODY_H

#include "heap.h"
#include "tile.h"

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
            if (count < AHEAD) prefetch_row(image, node);
            nodes[count++] = node;
        }
        if (count == 0) continue;
        measure(search, nodes, count, distances);

        for (int32_t i = 0; i < count; i++) {
            int64_t entry = key(distances[i], nodes[i]);
            /* With all of the width found, what is farther can neither be kept nor lead on. */
            if (size == search->width && entry > search->found[0]) continue;
            push_nearest(candidates, waiting++, entry);
            prefetch_bytes((const uint8_t *)neighbors(image, nodes[i]), image->degree * (int64_t)sizeof(int32_t));
            if (allows(search->allowed, nodes[i])) size = keep(search, size, entry);
        }
    }

    for (int64_t i = 0; i < logged; i++) visited[search->log[i] / 64] = 0;
    sort_farthest(search->found, size);
    return size;
}

#endif
