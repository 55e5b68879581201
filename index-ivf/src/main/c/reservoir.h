/*
 * The nearest rows that a query has seen so far: up to twice as many as it wants are gathered unordered, then the farthest
 * are dropped (FAISS's reservoir). A row costs one store and a part of a few branch-free passes; in a heap it would
 * cost a logarithmic number of unpredictable branches. The source that includes it defines
 *   keep_up_to(distances, ids, size, bound, last_id)   keeps, in their order, the rows nearer than `bound`, and the rows
 *                            at `bound` with ids up to `last_id`; returns their number
 */
#ifndef ROOST_RESERVOIR_H
#define ROOST_RESERVOIR_H

#include "float_order.h"
#include "scan.h"

static inline int32_t count_within(const float *distances, int32_t size, float bound) {
    int32_t within = 0;
    for (int32_t i = 0; i < size; i++) within += distances[i] <= bound;
    return within;
}

static inline float greatest(const float *distances, int32_t size) {
    int32_t key = INT32_MIN;
    for (int32_t i = 0; i < size; i++) key = key_of_float(distances[i]) > key ? key_of_float(distances[i]) : key;
    return float_of_key(key);
}

/*
 * Returns a bound for the distances: at least `wanted` of them are within it, and at most `max` unless more tie at the bound.
 * Sets `within` to the number of distances within the bound. The closer `max` is to `wanted`, the more passes this takes.
 */
static inline float bound_within(const float *distances, int32_t size, int32_t wanted, int32_t max, int32_t *within) {
    int32_t from = INT32_MAX, to = key_of_float(greatest(distances, size));
    for (int32_t i = 0; i < size; i++) from = key_of_float(distances[i]) < from ? key_of_float(distances[i]) : from;
    *within = size;
    while (*within > max && from < to) {
        int32_t middle = (int32_t)(from + ((int64_t)to - from) / 2);
        int32_t count = count_within(distances, size, float_of_key(middle));
        if (count >= wanted) {
            to = middle;
            *within = count;
        } else {
            from = middle + 1;
        }
    }
    return float_of_key(to);
}

/* The `wanted`-th smallest id, `wanted` at least 1, of the rows at a distance. */
static inline int64_t largest_id_kept(const float *distances, const int64_t *ids, int32_t size, float distance,
                                      int32_t wanted) {
    int64_t min = INT64_MIN, max = INT64_MAX;
    while (min < max) {
        int64_t middle = min + (int64_t)(((uint64_t)max - (uint64_t)min) / 2);
        int32_t within = 0;
        for (int32_t i = 0; i < size; i++) within += (distances[i] == distance) & (ids[i] <= middle);
        if (within >= wanted) {
            max = middle;
        } else {
            min = middle + 1;
        }
    }
    return min;
}

/*
 * Drops `surplus` of the rows with this distance and id: a row that is being moved may be seen at two places. Without it,
 * `shrink` could keep too many rows, and a reservoir could overflow.
 */
static int32_t drop_repeated(float *distances, int64_t *ids, int32_t size, float distance, int64_t id,
                             int32_t surplus) {
    int32_t kept = 0;
    for (int32_t i = 0; i < size; i++) {
        if (surplus > 0 && distances[i] == distance && ids[i] == id) {
            surplus--;
        } else {
            distances[kept] = distances[i];
            ids[kept++] = ids[i];
        }
    }
    return kept;
}

/*
 * Drops the farthest rows, ties by the larger id, until `wanted` rows or a few more are left: a bound that keeps a few
 * more takes fewer passes to find. Lowers the query's bound to one that all remaining rows are within.
 */
static void shrink(const struct scan *scan, int32_t query) {
    float *distances = scan->found_distances + (int64_t)query * scan->room;
    int64_t *ids = scan->found_ids + (int64_t)query * scan->room;
    const int32_t size = scan->sizes[query], wanted = scan->wanted[query], max = wanted + wanted / 4;
    int32_t within;
    const float bound = bound_within(distances, size, wanted, max, &within);
    int64_t last_id = INT64_MAX;
    if (within > max) {
        int32_t nearer = 0;
        for (int32_t i = 0; i < size; i++) nearer += distances[i] < bound;
        last_id = largest_id_kept(distances, ids, size, bound, wanted - nearer);
    }
    int32_t kept = keep_up_to(distances, ids, size, bound, last_id);
    if (kept > max) kept = drop_repeated(distances, ids, kept, bound, last_id, kept - wanted);
    scan->sizes[query] = kept;
    scan->bounds[query] = bound;
}

/* Takes a row whose distance is within the query's bound. */
static inline void take(const struct scan *scan, int32_t query, float distance, int64_t id) {
    int64_t at = (int64_t)query * scan->room + scan->sizes[query];
    scan->found_distances[at] = distance;
    scan->found_ids[at] = id;
    if (++scan->sizes[query] == 2 * scan->wanted[query]) shrink(scan, query);
}

#endif
