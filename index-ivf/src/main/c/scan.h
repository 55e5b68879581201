/* The interface between the run-time dispatch and the kernels, one for each instruction set. */
#ifndef ROOST_SCAN_H
#define ROOST_SCAN_H

#include <stdint.h>

enum roost_metric { ROOST_SQUARED_L2 = 0, ROOST_INNER_PRODUCT = 1, ROOST_COSINE = 2 };

/*
 * A group of queries scans one run of a list. Query q owns heap_distances[q * k .. ], heap_ids[q * k .. ] and
 * heap_sizes[q]: a heap with the farthest kept neighbour on top, farther meaning larger distance or, at equal distance,
 * larger id.
 */
struct roost_scan {
    int metric;
    const float *queries;
    int query_count;
    int dimension;
    const float *rows;
    const int64_t *ids;
    int64_t row_count;
    int k;
    float *heap_distances;
    int64_t *heap_ids;
    int32_t *heap_sizes;
};

typedef void (*roost_scan_function)(const struct roost_scan *);

void roost_scan_portable(const struct roost_scan *);
void roost_scan_avx2(const struct roost_scan *);
void roost_scan_avx512(const struct roost_scan *);
void roost_scan_neon(const struct roost_scan *);

#endif
