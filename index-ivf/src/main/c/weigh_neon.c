/* NEON. */
#include "vec_neon.h"

INLINE vec vec_all(float a) {
    const float32x4_t all = vdupq_n_f32(a);
    return (vec){{all, all, all, all}};
}
INLINE vec vec_limit(vec a, float max) {
    const float32x4_t least = vdupq_n_f32(-max), most = vdupq_n_f32(max);
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) a.part[i] = vminq_f32(vmaxq_f32(a.part[i], least), most);
    return a;
}
INLINE vec vec_max_size(vec max, vec a) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) max.part[i] = vmaxq_f32(max.part[i], vabsq_f32(a.part[i]));
    return max;
}
INLINE float vec_largest(vec a) {
    return vmaxvq_f32(vmaxq_f32(vmaxq_f32(a.part[0], a.part[1]), vmaxq_f32(a.part[2], a.part[3])));
}
INLINE void vec_store_bytes(int8_t *to, vec a) {
    const int16x8_t low = vcombine_s16(vmovn_s32(vcvtq_s32_f32(a.part[0])), vmovn_s32(vcvtq_s32_f32(a.part[1])));
    const int16x8_t high = vcombine_s16(vmovn_s32(vcvtq_s32_f32(a.part[2])), vmovn_s32(vcvtq_s32_f32(a.part[3])));
    vst1q_s8(to, vcombine_s8(vmovn_s16(low), vmovn_s16(high)));
}

#define WEIGH weigh_neon
#include "weigh_body.h"
