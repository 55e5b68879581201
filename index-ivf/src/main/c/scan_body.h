/*
 * The scan itself, the same for every instruction set. The includer has defined
 *   SCAN                     the name of the function
 *   TILE_L2, TILE_DOT        (queries, rows, dimension, out): 16 distances or products of 4 queries and 4 rows
 *   STRIP_L2, STRIP_DOT      (query, rows, dimension, out): 4 of 1 query and 4 rows
 *   PAIR_L2, PAIR_DOT        (query, row, dimension): 1
 * All three add up one pair in one order, so that a pair has one distance wherever it falls.
 */
#include "scan.h"

/* Rows taken together: at 128 dimensions they fill half a 64 KiB of cache while the queries of a group pass by. */
#define BLOCK 64

static inline int farther(float d1, int64_t id1, float d2, int64_t id2) {
    return d1 > d2 || (d1 == d2 && id1 > id2);
}

static void sift_up(float *distances, int64_t *ids, int at, float d, int64_t id) {
    while (at > 0) {
        int parent = (at - 1) / 2;
        if (!farther(d, id, distances[parent], ids[parent])) {
            break;
        }
        distances[at] = distances[parent];
        ids[at] = ids[parent];
        at = parent;
    }
    distances[at] = d;
    ids[at] = id;
}

static void sift_down(float *distances, int64_t *ids, int size, float d, int64_t id) {
    int at = 0;
    for (;;) {
        int child = 2 * at + 1;
        if (child >= size) {
            break;
        }
        if (child + 1 < size && farther(distances[child + 1], ids[child + 1], distances[child], ids[child])) {
            child++;
        }
        if (!farther(distances[child], ids[child], d, id)) {
            break;
        }
        distances[at] = distances[child];
        ids[at] = ids[child];
        at = child;
    }
    distances[at] = d;
    ids[at] = id;
}

/* Offers one neighbour; a distance that is not a number compares false with everything and is dropped first. */
static inline void offer(const struct roost_scan *s, int q, float d, int64_t id) {
    float *distances = s->heap_distances + (int64_t)q * s->k;
    int64_t *ids = s->heap_ids + (int64_t)q * s->k;
    int size = s->heap_sizes[q];
    if (size < s->k) {
        if (d == d) {
            sift_up(distances, ids, size, d, id);
            s->heap_sizes[q] = size + 1;
        }
    } else if (farther(distances[0], ids[0], d, id)) {
        sift_down(distances, ids, size, d, id);
    }
}

static inline float distance_of(int metric, float value) {
    return metric == ROOST_SQUARED_L2 ? value : metric == ROOST_INNER_PRODUCT ? -value : 1.0f - value;
}

void SCAN(const struct roost_scan *s) {
    const int dim = s->dimension;
    const int l2 = s->metric == ROOST_SQUARED_L2;
    float out[16];
    for (int64_t block = 0; block < s->row_count; block += BLOCK) {
        const int64_t end = block + BLOCK < s->row_count ? block + BLOCK : s->row_count;
        int q = 0;
        for (; q + 4 <= s->query_count; q += 4) {
            const float *queries = s->queries + (int64_t)q * dim;
            int64_t r = block;
            for (; r + 4 <= end; r += 4) {
                const float *rows = s->rows + r * dim;
                if (l2) {
                    TILE_L2(queries, rows, dim, out);
                } else {
                    TILE_DOT(queries, rows, dim, out);
                }
                for (int i = 0; i < 16; i++) {
                    offer(s, q + i / 4, distance_of(s->metric, out[i]), s->ids[r + i % 4]);
                }
            }
            for (; r < end; r++) {
                const float *row = s->rows + r * dim;
                for (int i = 0; i < 4; i++) {
                    const float *query = queries + (int64_t)i * dim;
                    float value = l2 ? PAIR_L2(query, row, dim) : PAIR_DOT(query, row, dim);
                    offer(s, q + i, distance_of(s->metric, value), s->ids[r]);
                }
            }
        }
        for (; q < s->query_count; q++) {
            const float *query = s->queries + (int64_t)q * dim;
            int64_t r = block;
            for (; r + 4 <= end; r += 4) {
                const float *rows = s->rows + r * dim;
                if (l2) {
                    STRIP_L2(query, rows, dim, out);
                } else {
                    STRIP_DOT(query, rows, dim, out);
                }
                for (int i = 0; i < 4; i++) {
                    offer(s, q, distance_of(s->metric, out[i]), s->ids[r + i]);
                }
            }
            for (; r < end; r++) {
                const float *row = s->rows + r * dim;
                float value = l2 ? PAIR_L2(query, row, dim) : PAIR_DOT(query, row, dim);
                offer(s, q, distance_of(s->metric, value), s->ids[r]);
            }
        }
    }
}
