/* NEON without the dot product, for every 64-bit ARM. */
#include <arm_neon.h>

#include "tile.h"

/* 128 is subtracted from the codes, so that the factors are signed bytes and their product fits 16 bits. */
INLINE void sum_tile(const uint8_t *const *rows, const int8_t *weights, int64_t bytes, int32_t start, int32_t *sums) {
    (void)start;
    int32x4_t lanes[TILE];
    for (int row = 0; row < TILE; row++) lanes[row] = vdupq_n_s32(0);
    for (int64_t at = 0; at < bytes; at += 16) {
        int8x16_t weight = vld1q_s8(weights + at);
#pragma GCC unroll 4
        for (int row = 0; row < TILE; row++) {
            int8x16_t codes = vreinterpretq_s8_u8(veorq_u8(vld1q_u8(rows[row] + at), vdupq_n_u8(0x80)));
            lanes[row] = vpadalq_s16(lanes[row], vmull_s8(vget_low_s8(codes), vget_low_s8(weight)));
            lanes[row] = vpadalq_s16(lanes[row], vmull_high_s8(codes, weight));
        }
    }
    for (int row = 0; row < TILE; row++) sums[row] = vaddvq_s32(lanes[row]);
}

#define SEARCH search_codes_neon
#include "code_body.h"
