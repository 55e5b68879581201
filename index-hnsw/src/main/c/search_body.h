/*
 * The graph search, generic over the distance. The including source defines
 *   prefetch_row(image, node)                    prefetches the data that measure() reads of a node
 *   measure(search, nodes, count, distances)     computes distances of the query from nodes; both lists have room up to a
 *                                                multiple of TILE
 *   AHEAD                                        number of rows prefetched before the first is measured
 *   SEARCH                                       the name of the function to define
 *
 * All unvisited neighbors of a node are collected and the first of them prefetched, then measured tile by tile: while
 * one tile is summed, the next rows are on their way from memory. A call that has used its budget saves its state in the
 * progress; the result does not depend on the budget. Neighbors are range-checked before they are followed, because an image
 * opened in place has not been validated as a whole.
 */
#ifndef ROOST_SEARCH_BODY_H
#define ROOST_SEARCH_BODY_H

#include "heap.h"
#include "tile.h"

/* Max neighbors of a node: 512, in a graph under construction a quarter more, plus a new one; and padding to whole tiles. */
#define MAX_NEIGHBORS (512 + 512 / 4 + 1 + TILE)

/* Cost of checking a node's neighbors for visited marks, in distances: some eight marks per distance. */
#define LOOK_COST(degree) ((degree) / 8 + 1)

/* Whether a node may be found. */
INLINE int allows(const struct search *search, int64_t node) {
    const uint64_t *allowed = search->allowed;
    if (allowed == 0) return 1;
    int64_t bit = node;
    if (search->labels > 0) {
        bit = ((const uint32_t *)(search->image->base + search->image->ids_at))[2 * node + 1];
        if (bit >= search->labels) {
            search->progress->phase = DAMAGED;
            return 0;
        }
    }
    return allowed[bit / 64] >> (bit % 64) & 1;
}

/* Offers an entry to the heap of the `width` nearest found so far; returns the heap's new size. */
INLINE int32_t keep(const struct search *search, int32_t size, int64_t entry) {
    if (size < search->width) {
        push_farthest(search->found, size, entry);
        return size + 1;
    }
    if (entry < search->found[0]) replace_farthest(search->found, size, entry);
    return size;
}

/* The number of `count` neighbors to measure in this call if the budget leaves only `room`: whole tiles, at least one. */
static int32_t __attribute__((noinline)) cut(int32_t count, int64_t room) {
    int32_t max = room > TILE ? (int32_t)(room / TILE * TILE) : TILE;
    return count < max ? count : max;
}

/* The neighbors of a node in a layer from 1 on. */
INLINE const int32_t *upper_neighbors(const struct image *image, int32_t level, int64_t node) {
    const int32_t *lists = (const int32_t *)(image->base + image->upper_at);
    for (int32_t below = 1; below < level; below++) {
        lists += (int64_t)image->level_counts[below - 1] * image->upper_degree;
    }
    return lists + node * image->upper_degree;
}

/*
 * Finds the node where the descent begins: node 0, but under inner product the nearest of the first ones, which are in upper layers. There a greedy
 * search would stay among the largest rows, although smaller ones in the query's direction have larger products with it.
 */
INLINE void start(const struct search *search) {
    const struct image *image = search->image;
    struct progress *progress = search->progress;
    const int32_t upper = image->levels > 0 ? image->level_counts[0] : 1;
    const int32_t all = !search->inner_product ? 1 : upper < MAX_STARTS ? upper : MAX_STARTS;
    int32_t nodes[MAX_STARTS + TILE];
    float distances[MAX_STARTS + TILE] __attribute__((aligned(64)));
    const int32_t count = cut(all - (int32_t)progress->next, progress->left + search->budget / 4);
    for (int32_t i = 0; i < count; i++) nodes[i] = (int32_t)progress->next + i;
    measure(search, nodes, count, distances);
    for (int32_t i = 0; i < count; i++) {
        const int64_t entry = key(distances[i], nodes[i]);
        if (nodes[i] == 0 || entry < progress->nearest) progress->nearest = entry;
    }
    progress->left -= count;
    progress->next += count;
    if (progress->next < all) return;
    progress->from = progress->nearest;
    progress->level = 0;
    while (progress->level < image->levels && node_of(progress->from) < image->level_counts[progress->level])
        progress->level++;
    progress->next = 0;
    progress->waiting = 0;
    progress->phase = DESCENDING;
}

/* Greedy descent through the upper layers, down to layer 1; its result becomes the entry point of layer 0. */
INLINE void descend(const struct search *search) {
    const struct image *image = search->image;
    struct progress *progress = search->progress;
    int32_t nodes[MAX_NEIGHBORS];
    float distances[MAX_NEIGHBORS] __attribute__((aligned(64)));
    if (progress->phase == BEGUN) {
        progress->next = 0;
        progress->phase = STARTING;
    }
    while (progress->phase == STARTING) {
        if (progress->left <= 0) return;
        start(search);
    }
    while (progress->level >= 1) {
        if (progress->left <= 0) return;
        const int32_t *list = upper_neighbors(image, progress->level, node_of(progress->from)) + progress->next;
        /* A quarter more than the budget, as in layer 0. */
        const int32_t max = cut(image->upper_degree, progress->left + search->budget / 4);
        const int64_t rest = image->upper_degree - progress->next;
        const int32_t end = image->level_counts[progress->level - 1];
        int32_t count = 0;
        while (count < max && count < rest) {
            const int32_t node = list[count];
            if (node < 0) break;
            if (__builtin_expect(node >= end, 0)) {
                progress->phase = DAMAGED;
                return;
            }
            prefetch_row(image, node);
            nodes[count++] = node;
        }
        progress->left -= count + 1;
        progress->next += count;
        if (count > 0) {
            measure(search, nodes, count, distances);
            for (int32_t i = 0; i < count; i++) {
                int64_t entry = key(distances[i], nodes[i]);
                if (entry < progress->nearest) progress->nearest = entry;
            }
            if (count == max) continue;
        }
        if (progress->nearest == progress->from) progress->level--;
        progress->from = progress->nearest;
        progress->next = 0;
    }

    progress->level = 0;
    progress->waiting = -1;
    progress->phase = SEARCHING;
}

/* The neighbors of a node in a layer. */
INLINE const int32_t *list_of(const struct image *image, int32_t level, int64_t node) {
    return level == 0 ? neighbors(image, node) : upper_neighbors(image, level, node);
}

/* Marks the nearest node so far, the entry point of a layer, as visited, and keeps it if it is allowed. */
INLINE void enter_layer(const struct search *search) {
    struct progress *progress = search->progress;
    const int64_t start = progress->nearest;
    const int32_t first = node_of(start);
    search->visited[first / 64] |= 1ull << (first % 64);
    search->log[0] = first;
    search->candidates[0] = start;
    progress->logged = 1;
    progress->next = 1;
    progress->waiting = 1;
    progress->size = allows(search, first) ? keep(search, 0, start) : 0;
}

/*
 * Searches a layer; returns whether it is through. The log is also the queue of nodes to measure: from `next` on it has the new
 * neighbors of the last expanded node that have not been measured yet. `waiting` is negative before the first call. The search of
 * an insertion shares the lists with threads that change them, and adds `shift` to its distances.
 */
INLINE int walk(const struct search *search, const int32_t level, const int shared, const float shift) {
    const struct image *image = search->image;
    struct progress *progress = search->progress;
    if (progress->waiting < 0) enter_layer(search);
    uint64_t *visited = search->visited;
    int64_t *candidates = search->candidates;
    int32_t *log = search->log;
    float distances[MAX_NEIGHBORS] __attribute__((aligned(64)));
    const int32_t degree = level == 0 ? image->degree : image->upper_degree;
    const uint32_t nodes = (uint32_t)image->nodes;
    int64_t left = progress->left;
    int64_t waiting = progress->waiting;
    int64_t logged = progress->logged;
    int64_t next = progress->next;
    int32_t size = progress->size;
    const int64_t more = search->budget / 4;
    int over = 0;

    while (left > 0) {
        int32_t count = (int32_t)(logged - next);
        if (count == 0) {
            over = waiting == 0;
            if (over) break;
            int64_t nearest = pop_nearest(candidates, waiting--);
            over = size == search->width && nearest > search->found[0];
            if (over) break;
            progress->expanded++;

            const int32_t *list = list_of(image, level, node_of(nearest));
            int32_t *fresh = log + next;
            for (int32_t i = 0; i < degree; i++) {
                const uint32_t node = (uint32_t)(shared ? __atomic_load_n(list + i, __ATOMIC_ACQUIRE) : list[i]);
                /* As unsigned, one comparison catches both the -1 after the last neighbor and a node out of range. */
                if (node >= nodes) {
                    if ((int32_t)node < 0) break;
                    progress->logged = logged + count;
                    progress->phase = DAMAGED;
                    return 0;
                }
                uint64_t bit = 1ull << (node % 64);
                if (visited[node / 64] & bit) continue;
                visited[node / 64] |= bit;
                if (count < AHEAD) prefetch_row(image, node);
                fresh[count++] = (int32_t)node;
            }
            logged += count;
            left -= LOOK_COST(degree);
            if (count == 0) continue;
        }
        if (__builtin_expect(count > left + more, 0)) count = cut(count, left + more);
        measure(search, log + next, count, distances);
        left -= count;

        for (int32_t i = 0; i < count; i++) {
            int32_t node = log[next + i];
            int64_t entry = key(distances[i] + shift, node);
            /* With a full heap, a farther node can neither be kept nor become a useful candidate. */
            if (size == search->width && entry > search->found[0]) continue;
            push_nearest(candidates, waiting++, entry);
            prefetch_bytes((const uint8_t *)list_of(image, level, node), degree * (int64_t)sizeof(int32_t));
            if (allows(search, node)) size = keep(search, size, entry);
        }
        next += count;
    }

    progress->left = left;
    progress->waiting = waiting;
    progress->logged = logged;
    progress->next = over ? 0 : next;
    progress->size = size;
    return over && progress->phase != DAMAGED;
}

/* Rows per call of measure() in a scan. */
#define SCAN_RUN (16 * TILE)
/* Nodes that a scan skips in the time of a distance. */
#define PASSED_PER_DISTANCE 512

INLINE int32_t scan_run(const struct search *search, int32_t *nodes, int32_t count, int32_t size) {
    float distances[SCAN_RUN] __attribute__((aligned(64)));
    measure(search, nodes, count, distances);
    for (int32_t i = 0; i < count; i++) size = keep(search, size, key(distances[i], nodes[i]));
    return size;
}

/* Scans the allowed nodes from `next` to `to` exclusive; returns whether it is through. */
INLINE int scan_nodes(const struct search *search, int64_t to) {
    struct progress *progress = search->progress;
    const uint64_t *allowed = search->labels > 0 ? 0 : search->allowed;
    int32_t nodes[SCAN_RUN];
    int32_t size = progress->size;
    int32_t count = 0;
    int64_t left = progress->left;
    int64_t node = progress->next;
    int64_t end = to - node < left * PASSED_PER_DISTANCE ? to : node + left * PASSED_PER_DISTANCE;
    while (node < end && left > 0) {
        if (allowed != 0) {
            uint64_t rest = allowed[node / 64] >> (node % 64);
            node = rest == 0 ? (node | 63) + 1 : node + __builtin_ctzll(rest);
            if (rest == 0 || node >= end) continue;
        } else if (!allows(search, node)) {
            node++;
            continue;
        }
        nodes[count++] = (int32_t)node++;
        left--;
        if (count == SCAN_RUN) {
            size = scan_run(search, nodes, count, size);
            count = 0;
        }
    }
    if (count > 0) size = scan_run(search, nodes, count, size);
    progress->size = size;
    progress->next = node;
    /* The limit on skipped nodes ended the call: its budget is used. */
    progress->left = node >= end && end < to ? 0 : left;
    return node >= to && progress->phase != DAMAGED;
}

/* An image without links is scanned, too. */
void SEARCH(const struct search *search) {
    struct progress *progress = search->progress;
    if (search->scanned || search->image->degree == 0) {
        if (progress->phase == BEGUN) {
            progress->next = 0;
            progress->phase = SEARCHING;
        }
        if (scan_nodes(search, search->image->nodes)) {
            progress->next = 0;
            progress->phase = FORGETTING;
        }
        return;
    }
    if (progress->phase < SEARCHING) descend(search);
    if (progress->phase == SEARCHING && walk(search, 0, 0, 0)) progress->phase = FORGETTING;
}

#endif
