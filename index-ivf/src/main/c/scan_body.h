/*
 * The scan itself, shared by all instruction sets. The source that includes it defines
 *   vec and its functions    see vec.h
 *   fold(sums, count, out)   as fold_four(), for a multiple of four vectors
 *   near_pairs(out, bounds, queries)   a bit per pair of `queries` times TILE_ROWS: set if its distance is within its query's
 *                            bound, never for NaN
 *   TILE_QUERIES             4, 2 or 1: how many queries times 4 rows its registers hold
 *   keep_up_to               see reservoir.h
 *   SCAN, PICKS, BOUND, KEEP, ORDER   the names of the functions to define
 *
 * Rows are the outer loop, so that each is read from memory once for all queries; a tile of queries times rows keeps
 * its sums in registers, so that each load serves several pairs.
 */
#include "ahead.h"
#include "order.h"
#include "reservoir.h"

INLINE vec load_row(const void *row, int64_t at, const int float16) {
    return float16 ? vec_load_float16((const uint16_t *)row + at) : vec_load((const float *)row + at);
}

INLINE void tile(const int queries, const int inner_product, const int float16, const float *const *query,
                 const void *const *row, int64_t stride, float *out) {
    vec sums[4 * TILE_ROWS];
#pragma GCC unroll 16
    for (int i = 0; i < queries * TILE_ROWS; i++) sums[i] = vec_zero();
    for (int64_t at = 0; at < stride; at += LANES) {
        vec r[TILE_ROWS];
#pragma GCC unroll 4
        for (int j = 0; j < TILE_ROWS; j++) r[j] = load_row(row[j], at, float16);
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

INLINE void scan_tile(const struct scan *scan, const int queries, const int inner_product, const int float16,
                      int32_t first_query, int64_t first_row) {
    const float *query[4];
    const void *row[TILE_ROWS];
    const int64_t row_bytes = scan->stride * (float16 ? (int64_t)sizeof(uint16_t) : (int64_t)sizeof(float));
    float out[4 * TILE_ROWS] __attribute__((aligned(64)));
    int32_t present = scan->query_count - first_query < queries ? scan->query_count - first_query : queries;
    int64_t rows = scan->count - first_row < TILE_ROWS ? scan->count - first_row : TILE_ROWS;
    for (int i = 0; i < queries; i++) {
        query[i] = scan->queries + (int64_t)(first_query + (i < present ? i : present - 1)) * scan->stride;
    }
    for (int j = 0; j < TILE_ROWS; j++) {
        row[j] = (const char *)scan->rows + (first_row + (j < rows ? j : rows - 1)) * row_bytes;
    }

    tile(queries, inner_product, float16, query, row, scan->stride, out);

    if (inner_product) {
#pragma GCC unroll 16
        for (int i = 0; i < queries * TILE_ROWS; i++) out[i] = scan->bias - out[i];
    }
    /* Queries and rows beyond the last are copies of it. */
    uint32_t present_rows = (1u << rows) - 1;
    uint32_t present_pairs = (present_rows * 0x1111) & ((1u << (present * TILE_ROWS)) - 1);
    _Static_assert(TILE_ROWS == 4, "one hexadecimal digit per query");
    for (uint32_t near = near_pairs(out, scan->bounds + first_query, queries) & present_pairs; near; near &= near - 1) {
        int pair = __builtin_ctz(near);
        int32_t at = first_query + pair / TILE_ROWS;
        /* An earlier pair may have lowered the bound. */
        if (out[pair] <= scan->bounds[at]) take(scan, at, out[pair], scan->ids[first_row + pair % TILE_ROWS]);
    }
}

INLINE void scan_rows(const struct scan *scan, const int inner_product, const int float16) {
    const int64_t row_bytes = scan->stride * (float16 ? (int64_t)sizeof(uint16_t) : (int64_t)sizeof(float));
    for (int64_t row = 0; row < scan->count; row += TILE_ROWS) {
        fetch_ahead(scan->rows, row * row_bytes, TILE_ROWS * row_bytes, scan->count * row_bytes);
        int32_t query = 0;
#if TILE_QUERIES >= 4
        for (; query + 2 < scan->query_count; query += 4) scan_tile(scan, 4, inner_product, float16, query, row);
#endif
#if TILE_QUERIES >= 2
        for (; query + 1 < scan->query_count; query += 2) scan_tile(scan, 2, inner_product, float16, query, row);
#endif
        for (; query < scan->query_count; query++) scan_tile(scan, 1, inner_product, float16, query, row);
    }
}

void SCAN(const struct scan *scan) {
    if (scan->inner_product) {
        if (scan->float16) {
            scan_rows(scan, 1, 1);
        } else {
            scan_rows(scan, 1, 0);
        }
    } else if (scan->float16) {
        scan_rows(scan, 0, 1);
    } else {
        scan_rows(scan, 0, 0);
    }
}

/* Far enough ahead for memory to respond, near enough for the lines to stay in the cache. */
#define PICKS_AHEAD 8

INLINE void compare_picks(const struct picks *picks, const int inner_product) {
    float out[4 * TILE_ROWS] __attribute__((aligned(64)));
    for (int64_t first = 0; first < picks->count; first += TILE_ROWS) {
        const void *row[TILE_ROWS];
        for (int j = 0; j < TILE_ROWS; j++) {
            row[j] = picks->rows[first + j < picks->count ? first + j : picks->count - 1];
            if (first + j + PICKS_AHEAD < picks->count) {
                const float *ahead = picks->rows[first + j + PICKS_AHEAD];
                for (int64_t at = 0; at < picks->stride; at += 16) __builtin_prefetch(ahead + at);
                __builtin_prefetch(picks->row_ids[first + j + PICKS_AHEAD]);
            }
        }
        tile(1, inner_product, 0, &picks->query, row, picks->stride, out);
        for (int j = 0; j < TILE_ROWS && first + j < picks->count; j++) {
            picks->distances[first + j] = inner_product ? picks->bias - out[j] : out[j];
            picks->ids[first + j] = *picks->row_ids[first + j];
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

float BOUND(const float *scores, int32_t size, float certain, int32_t wanted) {
    const int32_t counted = count_within(scores, size, certain) + wanted;
    int32_t within;
    return counted <= size ? bound_within(scores, size, counted, counted, &within) : INFINITY;
}

int32_t KEEP(float *scores, int64_t *places, int32_t size, float bound) {
    return keep_up_to(scores, places, size, bound, INT64_MAX);
}

int32_t ORDER(const float *distances, int32_t count, int32_t wanted, int32_t *order) {
    return order_rows(distances, count, wanted, order);
}
