/* The interface between the dispatcher and the scans, one per instruction set. */
#ifndef ROOST_SCAN_H
#define ROOST_SCAN_H

#include <stdint.h>

#include "vec.h"

/* Rows that are compared together. */
#define TILE_ROWS 4

/*
 * One run of rows, floats or float16, and the queries that read it, written by QueryGroup.java, which defines the same layout. Rows and queries are zero-padded to `stride`
 * components, a multiple of LANES. Query q wants the nearest wanted[q] rows, at least 1; it gathers fewer than twice
 * as many at found_distances + q * room and found_ids + q * room. Only distances up to bounds[q] are gathered; the scan
 * lowers the bounds as it finds nearer rows.
 */
struct scan {
    const float *queries;
    const int32_t *wanted;
    int32_t *sizes;
    float *bounds;
    float *found_distances;
    int64_t *found_ids;
    int64_t room;
    int64_t count;
    int64_t stride;
    int32_t query_count;
    int32_t float16;
    int32_t inner_product;
    float bias;
    /* Set by the call. */
    const void *rows;
    const int64_t *ids;
};

/*
 * Rows at arbitrary addresses, with their ids, and the query to compare them with, written by RowPicks.java, which defines the same
 * layout. Distances are bit-equal to a scan.
 */
struct picks {
    const float *const *rows;
    const int64_t *const *row_ids;
    const float *query;
    float *distances;
    int64_t *ids;
    int64_t count;
    int64_t stride;
    int32_t inner_product;
    float bias;
};

void scan_avx512(const struct scan *scan);
void scan_avx2(const struct scan *scan);
void scan_neon(const struct scan *scan);
void scan_portable(const struct scan *scan);
void picks_avx512(const struct picks *picks);
void picks_avx2(const struct picks *picks);
void picks_neon(const struct picks *picks);
void picks_portable(const struct picks *picks);

/*
 * The `wanted`-th smallest score among rows scoring above `certain`; infinity if there are fewer. A `certain` of NaN counts all
 * rows.
 */
float bound_avx512(const float *scores, int32_t size, float certain, int32_t wanted);
float bound_avx2(const float *scores, int32_t size, float certain, int32_t wanted);
float bound_neon(const float *scores, int32_t size, float certain, int32_t wanted);
float bound_portable(const float *scores, int32_t size, float certain, int32_t wanted);

/* Keeps, in their order, the rows with scores up to `bound`. Returns their number. */
int32_t keep_avx512(float *scores, int64_t *places, int32_t size, float bound);
int32_t keep_avx2(float *scores, int64_t *places, int32_t size, float bound);
int32_t keep_neon(float *scores, int64_t *places, int32_t size, float bound);
int32_t keep_portable(float *scores, int64_t *places, int32_t size, float bound);

/* Max rows that are ordered at once. */
#define MAX_ORDERED 256

/*
 * Writes to `order` the numbers of the `wanted` smallest of `count` distances, and of all distances that tie with the last
 * of these, sorted by distance, then by number. No distance may be NaN. Returns the number of entries, or -1 if it would
 * exceed MAX_ORDERED.
 */
int32_t order_avx512(const float *distances, int32_t count, int32_t wanted, int32_t *order);
int32_t order_avx2(const float *distances, int32_t count, int32_t wanted, int32_t *order);
int32_t order_neon(const float *distances, int32_t count, int32_t wanted, int32_t *order);
int32_t order_portable(const float *distances, int32_t count, int32_t wanted, int32_t *order);

#endif
