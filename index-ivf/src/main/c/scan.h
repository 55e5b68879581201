/* The interface between the dispatcher and the scans, one per instruction set. */
#ifndef ROOST_SCAN_H
#define ROOST_SCAN_H

#include <stdint.h>

/* Lanes in which every scan sums, whatever its registers: so all of them give the same bits. */
#define LANES 16

/*
 * One run of rows and the queries that read it. Rows and queries are zero-padded to `stride` floats, a multiple of
 * LANES. Query q keeps its best in a heap of at most capacities[q] entries at heap_distances + q * heap_stride, worst at
 * the root; only distances up to bounds[q] are of interest, which the scan lowers as heaps fill.
 */
struct scan {
    const float *rows;
    const int64_t *ids;
    int64_t count;
    int64_t stride;
    int32_t inner_product;
    float bias;
    const float *queries;
    int32_t query_count;
    const int32_t *capacities;
    int32_t *sizes;
    float *bounds;
    float *heap_distances;
    int64_t *heap_ids;
    int64_t heap_stride;
};

/* Rows that lie anywhere, and the one query that they are compared with: the distances of a scan, to the bit. */
struct picks {
    const float *const *rows;
    int64_t count;
    int64_t stride;
    int32_t inner_product;
    float bias;
    const float *query;
    float *distances;
};

void scan_avx512(const struct scan *scan);
void scan_avx2(const struct scan *scan);
void scan_neon(const struct scan *scan);
void scan_portable(const struct scan *scan);
void picks_avx512(const struct picks *picks);
void picks_avx2(const struct picks *picks);
void picks_neon(const struct picks *picks);
void picks_portable(const struct picks *picks);

#endif
