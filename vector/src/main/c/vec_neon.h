/* NEON: four registers per vec. */
#ifndef ROOST_VEC_NEON_H
#define ROOST_VEC_NEON_H

#include <arm_neon.h>
#include <string.h>

#include "vec.h"

typedef struct {
    float32x4_t part[4];
} vec;

static inline vec vec_zero(void) {
    float32x4_t zero = vdupq_n_f32(0);
    return (vec){{zero, zero, zero, zero}};
}

static inline vec vec_load(const float *at) {
    return (vec){{vld1q_f32(at), vld1q_f32(at + 4), vld1q_f32(at + 8), vld1q_f32(at + 12)}};
}

static inline vec vec_load_part(const float *at, int count) {
    float padded[LANES] = {0};
    memcpy(padded, at, count * sizeof(float));
    return vec_load(padded);
}

static inline float32x4_t load_halves(const uint16_t *at) { return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(at))); }

static inline vec vec_load_float16(const uint16_t *at) {
    return (vec){{load_halves(at), load_halves(at + 4), load_halves(at + 8), load_halves(at + 12)}};
}

static inline vec vec_sub(vec a, vec b) {
    return (vec){{vsubq_f32(a.part[0], b.part[0]), vsubq_f32(a.part[1], b.part[1]), vsubq_f32(a.part[2], b.part[2]),
                  vsubq_f32(a.part[3], b.part[3])}};
}

static inline vec vec_fma(vec a, vec b, vec sum) {
    return (vec){{vfmaq_f32(sum.part[0], a.part[0], b.part[0]), vfmaq_f32(sum.part[1], a.part[1], b.part[1]),
                  vfmaq_f32(sum.part[2], a.part[2], b.part[2]), vfmaq_f32(sum.part[3], a.part[3], b.part[3])}};
}

INLINE void fold_four(const vec *sums, float *out) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        float32x4_t quarter =
            vaddq_f32(vaddq_f32(sums[i].part[0], sums[i].part[2]), vaddq_f32(sums[i].part[1], sums[i].part[3]));
        float32x2_t eighth = vadd_f32(vget_low_f32(quarter), vget_high_f32(quarter));
        out[i] = vget_lane_f32(eighth, 0) + vget_lane_f32(eighth, 1);
    }
}

#endif
