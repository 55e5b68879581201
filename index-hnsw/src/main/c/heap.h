/* Binary heaps of entries. The order of entries is total, so the order of pops does not depend on the heap's layout. */
#ifndef ROOST_HEAP_H
#define ROOST_HEAP_H

#include "float_order.h"

/* Packs a distance and a node into one number: its signed comparison compares the distances, then the nodes. */
static inline int64_t key(float distance, int32_t node) {
    return (int64_t)((uint64_t)(uint32_t)key_of_float(distance) << 32 | (uint32_t)node);
}

static inline int32_t node_of(int64_t entry) { return (int32_t)entry; }

static inline float distance_of(int64_t entry) { return float_of_key((int32_t)(entry >> 32)); }

/* Pushes to a min-heap, which has the nearest entry at its root. */
static inline void push_nearest(int64_t *heap, int64_t size, int64_t entry) {
    int64_t at = size;
    while (at > 0) {
        int64_t parent = (at - 1) / 2;
        if (heap[parent] <= entry) break;
        heap[at] = heap[parent];
        at = parent;
    }
    heap[at] = entry;
}

/* Pops the root of a min-heap of `size` entries. */
static inline int64_t pop_nearest(int64_t *heap, int64_t size) {
    int64_t nearest = heap[0];
    int64_t last = heap[--size];
    int64_t at = 0;
    for (int64_t child = 1; child < size; child = 2 * at + 1) {
        child += child + 1 < size && heap[child + 1] < heap[child];
        if (heap[child] >= last) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return nearest;
}

/* Pushes to a max-heap, which has the farthest entry at its root. */
static inline void push_farthest(int64_t *heap, int64_t size, int64_t entry) {
    int64_t at = size;
    while (at > 0) {
        int64_t parent = (at - 1) / 2;
        if (heap[parent] >= entry) break;
        heap[at] = heap[parent];
        at = parent;
    }
    heap[at] = entry;
}

/* Replaces the root of a max-heap of `size` entries. */
static inline void replace_farthest(int64_t *heap, int64_t size, int64_t entry) {
    int64_t at = 0;
    for (int64_t child = 1; child < size; child = 2 * at + 1) {
        child += child + 1 < size && heap[child + 1] > heap[child];
        if (heap[child] <= entry) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = entry;
}

/* One step of a heapsort: moves the root of a max-heap of `size` entries behind the others; returns the new size. */
static inline int64_t sort_one(int64_t *heap, int64_t size) {
    int64_t farthest = heap[0];
    size--;
    replace_farthest(heap, size, heap[size]);
    heap[size] = farthest;
    return size;
}

#endif
