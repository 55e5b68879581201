/*
 * The scan of codes, shared by all instruction sets. The source that includes it defines:
 *   sum_tiles(scan, tiles, first_tile, queries, first_query, sums)   sums[query][tile][row]
 *   append_near(scan, query, first_row, sums, low_sums)   appends the rows of a tile that are near enough, none from `end` on
 *   MAX_QUERIES                                 8, 4, 2 or 1: max queries per call of sum_tiles
 *   QUERY_TILES                                 tiles per call for several queries
 *   LONE_TILES                                  tiles per call for a lone query, no fewer
 *   SCAN                                        the name of the function to define
 *
 * Tiles are the outer loop, so that each is read from memory once for all queries.
 */
#include "ahead.h"
#include "codes.h"

#define INLINE static inline __attribute__((always_inline))

/* Not inlined: few queries need it. */
static __attribute__((noinline)) void sum_low(const struct codes *scan, int32_t tile, int32_t query, int32_t *sums) {
    struct codes low = *scan;
    low.weights = scan->low_weights;
    low.starts = scan->low_starts;
    sum_tiles(&low, 1, tile, 1, query, sums);
}

INLINE void score_tiles(const struct codes *scan, const int tiles, int32_t first_tile, const int queries,
                        int32_t first_query) {
    int32_t sums[MAX_QUERIES * LONE_TILES * TILE] __attribute__((aligned(64)));
    sum_tiles(scan, tiles, first_tile, queries, first_query, sums);
    for (int query = 0; query < queries; query++) {
        for (int tile = 0; tile < tiles; tile++) {
            const int32_t at = first_query + query, row = (first_tile + tile) * TILE;
            const int32_t *high_sums = sums + (query * tiles + tile) * TILE;
            if (scan->fine[at]) {
                int32_t low_sums[TILE] __attribute__((aligned(64)));
                sum_low(scan, first_tile + tile, at, low_sums);
                append_near(scan, at, row, high_sums, low_sums);
            } else {
                append_near(scan, at, row, high_sums, 0);
            }
        }
    }
}

INLINE void score_queries(const struct codes *scan, const int tiles, int32_t first_tile) {
    int32_t query = 0;
#if MAX_QUERIES >= 8
    for (; query + 7 < scan->query_count; query += 8) score_tiles(scan, tiles, first_tile, 8, query);
#endif
#if MAX_QUERIES >= 4
    for (; query + 3 < scan->query_count; query += 4) score_tiles(scan, tiles, first_tile, 4, query);
#endif
#if MAX_QUERIES >= 2
    for (; query + 1 < scan->query_count; query += 2) score_tiles(scan, tiles, first_tile, 2, query);
#endif
    for (; query < scan->query_count; query++) score_tiles(scan, tiles, first_tile, 1, query);
}

INLINE void fetch_tiles_ahead(const struct codes *scan, int32_t first_tile, int32_t tiles) {
    const int64_t tile_bytes = (int64_t)TILE * scan->stride;
    fetch_ahead(scan->codes, first_tile * tile_bytes, tiles * tile_bytes, (int64_t)scan->count * scan->stride);
}

void SCAN(const struct codes *scan) {
    for (int32_t query = 0; query < scan->query_count; query++) scan->found[query] = 0;
    const int32_t end = (scan->end + TILE - 1) / TILE;
    int32_t tile = scan->first / TILE;
    if (scan->query_count == 1) {
        for (; tile + LONE_TILES <= end; tile += LONE_TILES) {
            fetch_tiles_ahead(scan, tile, LONE_TILES);
            score_tiles(scan, LONE_TILES, tile, 1, 0);
        }
    } else {
        for (; tile + QUERY_TILES <= end; tile += QUERY_TILES) {
            fetch_tiles_ahead(scan, tile, QUERY_TILES);
            score_queries(scan, QUERY_TILES, tile);
        }
    }
    for (; tile < end; tile++) score_queries(scan, 1, tile);
}
