/* Byte codes for NEON: 128 is subtracted from them, so that both factors are signed bytes and their product fits 16 bits. */
#ifndef ROOST_BYTES_NEON_H
#define ROOST_BYTES_NEON_H

#include <arm_neon.h>
#include <stdint.h>

/* 16 codes, less 128. */
static inline int8x16_t load_codes(const uint8_t *at) {
    return vreinterpretq_s8_u8(veorq_u8(vld1q_u8(at), vdupq_n_u8(0x80)));
}

/* Adds the products of the lower, and of the upper, 8 codes and weights to 4 sums, in pairs. */
static inline int32x4_t add_low_products(int32x4_t sums, int8x16_t codes, int8x16_t weights) {
    return vpadalq_s16(sums, vmull_s8(vget_low_s8(codes), vget_low_s8(weights)));
}
static inline int32x4_t add_high_products(int32x4_t sums, int8x16_t codes, int8x16_t weights) {
    return vpadalq_s16(sums, vmull_high_s8(codes, weights));
}

#endif
