/* NEON: four registers per vec. */
#include <arm_neon.h>
#include <string.h>

#include "search.h"

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

static inline vec vec_sub(vec a, vec b) {
    return (vec){{vsubq_f32(a.part[0], b.part[0]), vsubq_f32(a.part[1], b.part[1]), vsubq_f32(a.part[2], b.part[2]),
                  vsubq_f32(a.part[3], b.part[3])}};
}

static inline vec vec_fma(vec a, vec b, vec sum) {
    return (vec){{vfmaq_f32(sum.part[0], a.part[0], b.part[0]), vfmaq_f32(sum.part[1], a.part[1], b.part[1]),
                  vfmaq_f32(sum.part[2], a.part[2], b.part[2]), vfmaq_f32(sum.part[3], a.part[3], b.part[3])}};
}

static inline __attribute__((always_inline)) void fold(const vec *sums, float *out) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        float32x4_t quarter =
            vaddq_f32(vaddq_f32(sums[i].part[0], sums[i].part[2]), vaddq_f32(sums[i].part[1], sums[i].part[3]));
        float32x2_t eighth = vadd_f32(vget_low_f32(quarter), vget_high_f32(quarter));
        out[i] = vget_lane_f32(eighth, 0) + vget_lane_f32(eighth, 1);
    }
}

#define SEARCH search_neon
#define SCAN scan_neon
#define RERANK rerank_neon
#include "float_body.h"

#define GROUP_QUERIES 2
#define GROUP_ROWS 2
#define SCAN_GROUP scan_group_neon
#include "group_body.h"

INLINE void add_sums(uint16x8_t some, uint32_t *sums) {
    vst1q_u32(sums, vaddw_u16(vld1q_u32(sums), vget_low_u16(some)));
    vst1q_u32(sums + 4, vaddw_high_u16(vld1q_u32(sums + 4), some));
}

INLINE void sum_run(const uint8_t *codes, const uint8_t *table, int32_t groups, uint32_t *sums) {
    uint16x8_t parts[4] = {vdupq_n_u16(0), vdupq_n_u16(0), vdupq_n_u16(0), vdupq_n_u16(0)};
    for (int64_t at = 0; at < (int64_t)groups * GROUP_BYTES; at += GROUP_BYTES) {
        uint8x16_t both = vld1q_u8(codes + at);
        uint8x16_t entries = vld1q_u8(table + at);
        uint8x16_t low = vqtbl1q_u8(entries, vandq_u8(both, vdupq_n_u8(15)));
        uint8x16_t high = vqtbl1q_u8(entries, vshrq_n_u8(both, 4));
        parts[0] = vaddw_u8(parts[0], vget_low_u8(low));
        parts[1] = vaddw_high_u8(parts[1], low);
        parts[2] = vaddw_u8(parts[2], vget_low_u8(high));
        parts[3] = vaddw_high_u8(parts[3], high);
    }
    for (int i = 0; i < 4; i++) add_sums(parts[i], sums + 8 * i);
}

#define SEARCH_ESTIMATES search_estimates_neon
#include "estimate_body.h"

#define INSERT insert_neon
#define TRIM trim_neon
#include "insert_body.h"
