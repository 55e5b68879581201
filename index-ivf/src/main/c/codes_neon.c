/* NEON of every 64-bit Arm: four components of four rows per register. */
#include "bytes_neon.h"
#include "codes_append.h"

static inline __attribute__((always_inline)) void sum_tiles(const struct codes *scan, const int tiles,
                                                            int32_t first_tile, const int queries, int32_t first_query,
                                                            int32_t *out) {
    const int8_t *weights = scan->weights + (int64_t)first_query * scan->stride;
    const uint8_t *codes = scan->codes + (int64_t)first_tile * TILE * scan->stride;
    int32x4_t pairs[2 * 8];
    (void)tiles;
#pragma GCC unroll 16
    for (int i = 0; i < queries * 8; i++) pairs[i] = vdupq_n_s32(0);
    for (int32_t at = 0; at < scan->stride; at += 4) {
        int8x16_t rows[4];
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++) rows[i] = load_codes(codes + at * TILE + i * 16);
#pragma GCC unroll 2
        for (int query = 0; query < queries; query++) {
            const int32_t four = four_weights(weights + query * (int64_t)scan->stride + at);
            int8x16_t weight = vreinterpretq_s8_s32(vdupq_n_s32(four));
#pragma GCC unroll 4
            for (int i = 0; i < 4; i++) {
                int32x4_t *sums = pairs + query * 8 + i * 2;
                sums[0] = add_low_products(sums[0], rows[i], weight);
                sums[1] = add_high_products(sums[1], rows[i], weight);
            }
        }
    }
#pragma GCC unroll 8
    for (int i = 0; i < queries * 4; i++) vst1q_s32(out + i * 4, vpaddq_s32(pairs[2 * i], pairs[2 * i + 1]));
}

#define MAX_QUERIES 2
#define QUERY_TILES 1
#define LONE_TILES 1
#define SCAN codes_neon
#include "codes_body.h"
