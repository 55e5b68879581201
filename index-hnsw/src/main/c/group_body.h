/*
 * The scan of nodes for several queries, generic over the vector type. The source includes it after float_body.h, and defines
 *   GROUP_QUERIES, GROUP_ROWS   queries and rows whose pairwise sums fit in registers; the product is a multiple of 4
 *   SCAN_GROUP                  the name of the function to define
 *
 * A run of rows stays in the L1 cache while all queries are compared with it, and so does each query while it is compared with the
 * run. So each row is read from memory once, and each load of a component serves several pairs.
 */
#include <math.h>

#include "heap.h"
#include "tile.h"

/* Max rows per run; a multiple of GROUP_ROWS. */
#define GROUP_RUN 32
/* Max bytes of rows per run: half of an L1 cache of 32 KiB. */
#define GROUP_BYTES_NEAR (16 << 10)

INLINE void measure_group(const struct group *group, const int inner_product, const float *const *query,
                          const float *const *row, float *out) {
    vec sums[GROUP_QUERIES * GROUP_ROWS];
#pragma GCC unroll 16
    for (int i = 0; i < GROUP_QUERIES * GROUP_ROWS; i++) sums[i] = vec_zero();
    const int64_t whole = group->image->dimension / LANES * LANES;
    for (int64_t at = 0; at < whole; at += LANES) {
        vec r[GROUP_ROWS];
#pragma GCC unroll 4
        for (int j = 0; j < GROUP_ROWS; j++) r[j] = vec_load(row[j] + at);
#pragma GCC unroll 4
        for (int i = 0; i < GROUP_QUERIES; i++) {
            vec q = vec_load(query[i] + at);
#pragma GCC unroll 4
            for (int j = 0; j < GROUP_ROWS; j++) {
                vec d = inner_product ? r[j] : vec_sub(q, r[j]);
                sums[i * GROUP_ROWS + j] = vec_fma(inner_product ? q : d, d, sums[i * GROUP_ROWS + j]);
            }
        }
    }
    const int rest = (int)(group->image->dimension - whole);
    if (rest > 0) {
#pragma GCC unroll 4
        for (int j = 0; j < GROUP_ROWS; j++) {
            vec r = vec_load_part(row[j] + whole, rest);
#pragma GCC unroll 4
            for (int i = 0; i < GROUP_QUERIES; i++) {
                vec q = vec_load(query[i] + whole);
                vec d = inner_product ? r : vec_sub(q, r);
                sums[i * GROUP_ROWS + j] = vec_fma(inner_product ? q : d, d, sums[i * GROUP_ROWS + j]);
            }
        }
    }
#pragma GCC unroll 4
    for (int i = 0; i < GROUP_QUERIES * GROUP_ROWS; i += 4) fold_four(sums + i, out + i);
    if (inner_product) {
        for (int i = 0; i < GROUP_QUERIES * GROUP_ROWS; i++) out[i] = 0.0f - out[i];
    }
}

static void keep_for(const struct group *group, int32_t query, float distance, int32_t node) {
    const int32_t width = group->width;
    int64_t *found = group->found + (int64_t)query * width;
    int64_t entry = key(distance, node);
    int32_t size = group->sizes[query];
    if (size < width) {
        push_farthest(found, size, entry);
        group->sizes[query] = ++size;
    } else if (entry < found[0]) {
        replace_farthest(found, size, entry);
    }
    if (size == width) group->bounds[query] = distance_of(found[0]);
}

INLINE void compare_run(const struct group *group, const int inner_product, const int32_t *nodes, int32_t count) {
    const float *rows[GROUP_RUN + GROUP_ROWS];
    for (int32_t j = 0; j < count + GROUP_ROWS - 1; j++)
        rows[j] = vector(group->image, nodes[j < count ? j : count - 1]);
    for (int32_t first = 0; first < group->count; first += GROUP_QUERIES) {
        const float *query[GROUP_QUERIES];
        const int32_t present = group->count - first < GROUP_QUERIES ? group->count - first : GROUP_QUERIES;
        for (int i = 0; i < GROUP_QUERIES; i++) {
            query[i] = group->queries + (int64_t)(first + (i < present ? i : present - 1)) * group->query_stride;
        }
        for (int32_t at = 0; at < count; at += GROUP_ROWS) {
            float out[GROUP_QUERIES * GROUP_ROWS] __attribute__((aligned(64)));
            measure_group(group, inner_product, query, rows + at, out);
            const int32_t there = count - at < GROUP_ROWS ? count - at : GROUP_ROWS;
            for (int32_t i = 0; i < present; i++) {
                for (int32_t j = 0; j < there; j++) {
                    const float distance = out[i * GROUP_ROWS + j];
                    if (__builtin_expect(distance > group->bounds[first + i], 1)) continue;
                    keep_for(group, first + i, distance, nodes[at + j]);
                }
            }
        }
    }
}

int64_t SCAN_GROUP(const struct group *group, int64_t from, int64_t to) {
    const uint64_t *allowed = group->allowed;
    int32_t nodes[GROUP_RUN];
    const int32_t fitting = GROUP_BYTES_NEAR / (group->image->dimension * (int32_t)sizeof(float));
    const int32_t max = fitting >= GROUP_RUN   ? GROUP_RUN
                        : fitting < GROUP_ROWS ? GROUP_ROWS
                                               : fitting / GROUP_ROWS * GROUP_ROWS;
    int64_t compared = 0;
    for (int64_t node = from; node < to;) {
        int32_t count = 0;
        while (node < to && count < max) {
            if (allowed != 0) {
                const uint64_t rest = allowed[node / 64] >> (node % 64);
                node = rest == 0 ? (node | 63) + 1 : node + __builtin_ctzll(rest);
                if (rest == 0 || node >= to) continue;
            }
            if (node + max < group->image->nodes) prefetch_row(group->image, node + max);
            nodes[count++] = (int32_t)node++;
        }
        if (count == 0) break;
        compared += count;
        if (group->inner_product) {
            compare_run(group, 1, nodes, count);
        } else {
            compare_run(group, 0, nodes, count);
        }
    }
    return compared;
}
