/* NEON with the dot product of Armv8.2: one instruction multiplies and adds 16 components of a row. */
#include "bytes_neon.h"
#include "tile.h"

INLINE void sum_tile(const uint8_t *const *rows, const int8_t *weights, int64_t bytes, int32_t start, int32_t *sums) {
    (void)start;
    int32x4_t lanes[TILE];
    for (int row = 0; row < TILE; row++) lanes[row] = vdupq_n_s32(0);
    for (int64_t at = 0; at < bytes; at += 16) {
        int8x16_t weight = vld1q_s8(weights + at);
#pragma GCC unroll 4
        for (int row = 0; row < TILE; row++) lanes[row] = vdotq_s32(lanes[row], load_codes(rows[row] + at), weight);
    }
    for (int row = 0; row < TILE; row++) sums[row] = vaddvq_s32(lanes[row]);
}

#define SEARCH search_codes_dot
#include "code_body.h"

#define INSERT insert_codes_dot
#define TRIM trim_codes_dot
#include "code_insert.h"
