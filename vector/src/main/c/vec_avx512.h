/* AVX-512: one register per vec. */
#ifndef ROOST_VEC_AVX512_H
#define ROOST_VEC_AVX512_H

#include <immintrin.h>

#include "vec.h"

typedef __m512 vec;

static inline vec vec_zero(void) { return _mm512_setzero_ps(); }
static inline vec vec_load(const float *at) { return _mm512_loadu_ps(at); }
static inline vec vec_load_part(const float *at, int count) {
    return _mm512_maskz_loadu_ps((__mmask16)((1u << count) - 1), at);
}
static inline vec vec_load_float16(const uint16_t *at) {
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)at));
}
static inline vec vec_sub(vec a, vec b) { return _mm512_sub_ps(a, b); }
static inline vec vec_fma(vec a, vec b, vec sum) { return _mm512_fmadd_ps(a, b, sum); }

static inline __m128 fold_to_quarter(vec a) {
    __m256 half =
        _mm256_add_ps(_mm512_castps512_ps256(a), _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(a), 1)));
    return _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
}

INLINE void fold_four(const vec *sums, float *out) {
    __m128 a = fold_to_quarter(sums[0]);
    __m128 b = fold_to_quarter(sums[1]);
    __m128 c = fold_to_quarter(sums[2]);
    __m128 d = fold_to_quarter(sums[3]);
    __m128 ab = _mm_add_ps(_mm_movelh_ps(a, b), _mm_movehl_ps(b, a));
    __m128 cd = _mm_add_ps(_mm_movelh_ps(c, d), _mm_movehl_ps(d, c));
    _mm_storeu_ps(out, _mm_add_ps(_mm_shuffle_ps(ab, cd, 0x88), _mm_shuffle_ps(ab, cd, 0xDD)));
}

#endif
