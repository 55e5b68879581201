/*
 * The nearest rows that a query has met so far: up to twice as many as it wants are gathered in no order, then the farthest
 * are dropped (FAISS's reservoir). That costs a row a store and its share of some passes without branches, where a heap
 * costs it a logarithm of branches that nobody can foretell.
 */
#ifndef ROOST_RESERVOIR_H
#define ROOST_RESERVOIR_H

#include <string.h>

#include "scan.h"

/* Order among keys is order among floats. */
static inline int32_t key_of(float distance) {
    int32_t bits;
    memcpy(&bits, &distance, sizeof bits);
    return bits < 0 ? bits ^ INT32_MAX : bits;
}

static inline float distance_of(int32_t key) {
    int32_t bits = key < 0 ? key ^ INT32_MAX : key;
    float distance;
    memcpy(&distance, &bits, sizeof distance);
    return distance;
}

static inline int32_t count_within(const float *distances, int32_t size, float bound) {
    int32_t within = 0;
    for (int32_t i = 0; i < size; i++) within += distances[i] <= bound;
    return within;
}

/* The `wanted`-th smallest id, `wanted` at least 1, of the rows at a distance. */
static inline int64_t largest_id_kept(const float *distances, const int64_t *ids, int32_t size, float distance,
                                      int32_t wanted) {
    int64_t least = INT64_MIN, most = INT64_MAX;
    while (least < most) {
        int64_t middle = least + (int64_t)(((uint64_t)most - (uint64_t)least) / 2);
        int32_t within = 0;
        for (int32_t i = 0; i < size; i++) within += (distances[i] == distance) & (ids[i] <= middle);
        if (within >= wanted) {
            most = middle;
        } else {
            least = middle + 1;
        }
    }
    return least;
}

/*
 * Drops the farthest, ties by the larger id, until `wanted` are left or a few more: to find a distance that some more
 * are within takes fewer passes. The bound falls to the farthest that is left.
 */
static void shrink(const struct scan *scan, int32_t query) {
    float *distances = scan->found_distances + (int64_t)query * scan->room;
    int64_t *ids = scan->found_ids + (int64_t)query * scan->room;
    const int32_t size = scan->sizes[query], wanted = scan->wanted[query], most = wanted + wanted / 4;
    float least = distances[0], greatest = distances[0];
    for (int32_t i = 1; i < size; i++) {
        least = distances[i] < least ? distances[i] : least;
        greatest = distances[i] > greatest ? distances[i] : greatest;
    }
    int32_t from = key_of(least), to = key_of(greatest), within = size;
    while (within > most && from < to) {
        int32_t middle = (int32_t)(from + ((int64_t)to - from) / 2);
        int32_t count = count_within(distances, size, distance_of(middle));
        if (count >= wanted) {
            to = middle;
            within = count;
        } else {
            from = middle + 1;
        }
    }
    const float bound = distance_of(to);
    int64_t last_id = INT64_MAX;
    if (within > most) {
        int32_t nearer = 0;
        for (int32_t i = 0; i < size; i++) nearer += distances[i] < bound;
        last_id = largest_id_kept(distances, ids, size, bound, wanted - nearer);
    }
    int32_t kept = 0;
    float farthest = least;
    for (int32_t i = 0; i < size; i++) {
        const float distance = distances[i];
        const int64_t id = ids[i];
        distances[kept] = distance;
        ids[kept] = id;
        kept += (distance < bound) | ((distance == bound) & (id <= last_id));
        farthest = distance <= bound && distance > farthest ? distance : farthest;
    }
    scan->sizes[query] = kept;
    scan->bounds[query] = farthest;
}

/* Takes a row whose distance is within the query's bound. */
static inline void take(const struct scan *scan, int32_t query, float distance, int64_t id) {
    int64_t at = (int64_t)query * scan->room + scan->sizes[query];
    scan->found_distances[at] = distance;
    scan->found_ids[at] = id;
    if (++scan->sizes[query] == 2 * scan->wanted[query]) shrink(scan, query);
}

#endif
