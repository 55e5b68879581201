/*
 * The scan itself, written once over the vector type of the source that includes it. That source defines
 *   vec                      LANES floats
 *   vec_zero, vec_load, vec_sub, vec_fma(a, b, sum)
 *   fold(sums, count, out)   the sum of each vector's lanes: halves are added, then quarters, and so on
 *   TILE_QUERIES             4 or 2 or 1: how many queries times 4 rows its registers hold
 *   SCAN, PICKS              the names of the functions to define
 *
 * Rows are the outer loop, so that each is read from memory once for all queries; a tile of queries times rows keeps
 * its sums in registers, so that each load serves several pairs.
 */
#include "heap.h"

#define TILE_ROWS 4
#define INLINE static inline __attribute__((always_inline))

INLINE void tile(const int queries, const int inner_product, const float *const *query, const float *const *row,
                 int64_t stride, float *out) {
    vec sums[4 * TILE_ROWS];
#pragma GCC unroll 16
    for (int i = 0; i < queries * TILE_ROWS; i++) sums[i] = vec_zero();
    for (int64_t at = 0; at < stride; at += LANES) {
        vec r[TILE_ROWS];
#pragma GCC unroll 4
        for (int j = 0; j < TILE_ROWS; j++) r[j] = vec_load(row[j] + at);
#pragma GCC unroll 4
        for (int i = 0; i < queries; i++) {
            vec q = vec_load(query[i] + at);
#pragma GCC unroll 4
            for (int j = 0; j < TILE_ROWS; j++) {
                if (inner_product) {
                    sums[i * TILE_ROWS + j] = vec_fma(q, r[j], sums[i * TILE_ROWS + j]);
                } else {
                    vec d = vec_sub(q, r[j]);
                    sums[i * TILE_ROWS + j] = vec_fma(d, d, sums[i * TILE_ROWS + j]);
                }
            }
        }
    }
    fold(sums, queries * TILE_ROWS, out);
}

INLINE void scan_tile(const struct scan *scan, const int queries, const int inner_product, int32_t first_query,
                      int64_t first_row) {
    const float *query[4];
    const float *row[TILE_ROWS];
    float out[4 * TILE_ROWS] __attribute__((aligned(64)));
    int32_t present = scan->query_count - first_query < queries ? scan->query_count - first_query : queries;
    int64_t rows = scan->count - first_row < TILE_ROWS ? scan->count - first_row : TILE_ROWS;
    for (int i = 0; i < queries; i++) {
        query[i] = scan->queries + (int64_t)(first_query + (i < present ? i : present - 1)) * scan->stride;
    }
    for (int j = 0; j < TILE_ROWS; j++) row[j] = scan->rows + (first_row + (j < rows ? j : rows - 1)) * scan->stride;

    tile(queries, inner_product, query, row, scan->stride, out);

    for (int i = 0; i < present; i++) {
        for (int j = 0; j < rows; j++) {
            float distance = inner_product ? scan->bias - out[i * TILE_ROWS + j] : out[i * TILE_ROWS + j];
            /* False for NaN, which thereby never gets in. */
            if (distance <= scan->bounds[first_query + i]) {
                offer(scan, first_query + i, distance, scan->ids[first_row + j]);
            }
        }
    }
}

INLINE void scan_rows(const struct scan *scan, const int inner_product) {
    for (int64_t row = 0; row < scan->count; row += TILE_ROWS) {
        int32_t query = 0;
#if TILE_QUERIES >= 4
        for (; query + 2 < scan->query_count; query += 4) scan_tile(scan, 4, inner_product, query, row);
#endif
#if TILE_QUERIES >= 2
        for (; query + 1 < scan->query_count; query += 2) scan_tile(scan, 2, inner_product, query, row);
#endif
        for (; query < scan->query_count; query++) scan_tile(scan, 1, inner_product, query, row);
    }
}

void SCAN(const struct scan *scan) {
    if (scan->inner_product) {
        scan_rows(scan, 1);
    } else {
        scan_rows(scan, 0);
    }
}

/* Far enough ahead for memory to answer, near enough for the lines to be there still. */
#define PICKS_AHEAD 8

INLINE void compare_picks(const struct picks *picks, const int inner_product) {
    float out[4 * TILE_ROWS] __attribute__((aligned(64)));
    for (int64_t first = 0; first < picks->count; first += TILE_ROWS) {
        const float *row[TILE_ROWS];
        for (int j = 0; j < TILE_ROWS; j++) {
            row[j] = picks->rows[first + j < picks->count ? first + j : picks->count - 1];
            if (first + j + PICKS_AHEAD < picks->count) {
                const float *ahead = picks->rows[first + j + PICKS_AHEAD];
                for (int64_t at = 0; at < picks->stride; at += 16) __builtin_prefetch(ahead + at);
            }
        }
        tile(1, inner_product, &picks->query, row, picks->stride, out);
        for (int j = 0; j < TILE_ROWS && first + j < picks->count; j++) {
            picks->distances[first + j] = inner_product ? picks->bias - out[j] : out[j];
        }
    }
}

void PICKS(const struct picks *picks) {
    if (picks->inner_product) {
        compare_picks(picks, 1);
    } else {
        compare_picks(picks, 0);
    }
}
