/* NEON without the dot product, for every 64-bit Arm. */
#include "bytes_neon.h"
#include "tile.h"

INLINE void sum_tile(const uint8_t *const *rows, const int8_t *weights, int64_t bytes, int32_t start, int32_t *sums) {
    (void)start;
    int32x4_t lanes[TILE];
    for (int row = 0; row < TILE; row++) lanes[row] = vdupq_n_s32(0);
    for (int64_t at = 0; at < bytes; at += 16) {
        int8x16_t weight = vld1q_s8(weights + at);
#pragma GCC unroll 4
        for (int row = 0; row < TILE; row++) {
            int8x16_t codes = load_codes(rows[row] + at);
            lanes[row] = add_low_products(lanes[row], codes, weight);
            lanes[row] = add_high_products(lanes[row], codes, weight);
        }
    }
    for (int row = 0; row < TILE; row++) sums[row] = vaddvq_s32(lanes[row]);
}

#define SEARCH search_codes_neon
#include "code_body.h"

#define INSERT insert_codes_neon
#define TRIM trim_codes_neon
#include "code_insert.h"
