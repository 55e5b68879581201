/* Plain C99. fmaf keeps results bit-equal to the other instruction sets; it is slow if the CPU has no fused multiply-add. */
#ifndef ROOST_VEC_PORTABLE_H
#define ROOST_VEC_PORTABLE_H

#include <math.h>
#include <string.h>

#include "vec.h"

typedef struct {
    float lane[LANES];
} vec;

static inline vec vec_zero(void) {
    vec result = {{0}};
    return result;
}

static inline vec vec_load_part(const float *at, int count) {
    vec result = {{0}};
    for (int i = 0; i < count; i++) result.lane[i] = at[i];
    return result;
}

static inline vec vec_load(const float *at) { return vec_load_part(at, LANES); }

/* IEEE half: 1 bit sign, 5 exponent, 10 fraction. Every half is a float. */
static inline float float_of_half(uint16_t half) {
    uint32_t magnitude = half & 0x7fff;
    if (magnitude < 0x400) return (half & 0x8000 ? -1.f : 1.f) * (float)magnitude * 0x1p-24f;
    uint32_t exponent = magnitude >= 0x7c00 ? 0x7f800000 : ((magnitude >> 10) + 112) << 23;
    uint32_t bits = (uint32_t)(half & 0x8000) << 16 | exponent | (magnitude & 0x3ff) << 13;
    float result;
    memcpy(&result, &bits, sizeof result);
    return result;
}

static inline vec vec_load_float16(const uint16_t *at) {
    vec result;
    for (int i = 0; i < LANES; i++) result.lane[i] = float_of_half(at[i]);
    return result;
}

static inline vec vec_sub(vec a, vec b) {
    vec result;
    for (int i = 0; i < LANES; i++) result.lane[i] = a.lane[i] - b.lane[i];
    return result;
}

static inline vec vec_fma(vec a, vec b, vec sum) {
    vec result;
    for (int i = 0; i < LANES; i++) result.lane[i] = fmaf(a.lane[i], b.lane[i], sum.lane[i]);
    return result;
}

static inline void fold_four(const vec *sums, float *out) {
    for (int i = 0; i < 4; i++) {
        vec sum = sums[i];
        for (int half = LANES / 2; half > 0; half /= 2) {
            for (int j = 0; j < half; j++) sum.lane[j] += sum.lane[j + half];
        }
        out[i] = sum.lane[0];
    }
}

#endif
