/* Plain C99. */
#include "codes_append.h"

static inline void sum_tiles(const struct codes *scan, const int tiles, int32_t first_tile, const int queries,
                             int32_t first_query, int32_t *out) {
    const uint8_t *codes = scan->codes + (int64_t)first_tile * TILE * scan->stride;
    const int8_t *weights = scan->weights + (int64_t)first_query * scan->stride;
    (void)tiles;
    (void)queries;
    for (int row = 0; row < TILE; row++) out[row] = scan->starts[first_query];
    for (int32_t at = 0; at < scan->stride; at += 4) {
        for (int row = 0; row < TILE; row++) {
            const uint8_t *four = codes + at * TILE + row * 4;
            for (int i = 0; i < 4; i++) out[row] += four[i] * weights[at + i];
        }
    }
}

#define MAX_QUERIES 1
#define QUERY_TILES 1
#define LONE_TILES 1
#define SCAN codes_portable
#include "codes_body.h"
