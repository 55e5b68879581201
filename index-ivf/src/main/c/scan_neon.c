#include <arm_neon.h>

static inline float32x4_t load_tail(const float *p, int n) {
    float padded[4] = {0, 0, 0, 0};
    for (int i = 0; i < n; i++) {
        padded[i] = p[i];
    }
    return vld1q_f32(padded);
}

#define SCAN roost_scan_neon
#define VEC float32x4_t
#define WIDTH 4
#define ZERO() vdupq_n_f32(0)
#define LOAD(p) vld1q_f32(p)
#define LOAD_TAIL(p, n) load_tail(p, n)
#define SUB(a, b) vsubq_f32(a, b)
#define FMA(a, b, c) vfmaq_f32(c, a, b)
#define SUM(v) vaddvq_f32(v)

#include "scan_vector.h"
