/* The bounded heap of one query: worst entry at the root, ordered by distance, then by id. */
#ifndef ROOST_HEAP_H
#define ROOST_HEAP_H

#include "scan.h"

static inline int worse(float a, int64_t a_id, float b, int64_t b_id) {
    return a > b || (a == b && a_id > b_id);
}

static inline void sift_up(float *distances, int64_t *ids, int32_t at, float distance, int64_t id) {
    while (at > 0) {
        int32_t parent = (at - 1) / 2;
        if (!worse(distance, id, distances[parent], ids[parent])) break;
        distances[at] = distances[parent];
        ids[at] = ids[parent];
        at = parent;
    }
    distances[at] = distance;
    ids[at] = id;
}

static inline void replace_root(float *distances, int64_t *ids, int32_t size, float distance, int64_t id) {
    int32_t at = 0;
    for (;;) {
        int32_t child = 2 * at + 1;
        if (child >= size) break;
        if (child + 1 < size && worse(distances[child + 1], ids[child + 1], distances[child], ids[child])) child++;
        if (!worse(distances[child], ids[child], distance, id)) break;
        distances[at] = distances[child];
        ids[at] = ids[child];
        at = child;
    }
    distances[at] = distance;
    ids[at] = id;
}

/* Takes a candidate whose distance is within the query's bound. */
static inline void offer(const struct scan *scan, int32_t query, float distance, int64_t id) {
    float *distances = scan->heap_distances + query * scan->heap_stride;
    int64_t *ids = scan->heap_ids + query * scan->heap_stride;
    int32_t capacity = scan->capacities[query];
    if (scan->sizes[query] < capacity) {
        sift_up(distances, ids, scan->sizes[query]++, distance, id);
    } else if (worse(distances[0], ids[0], distance, id)) {
        replace_root(distances, ids, capacity, distance, id);
    }
    if (scan->sizes[query] == capacity && distances[0] < scan->bounds[query]) scan->bounds[query] = distances[0];
}

#endif
