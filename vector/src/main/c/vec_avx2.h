/* AVX2 with FMA and F16C: two registers per vec. */
#ifndef ROOST_VEC_AVX2_H
#define ROOST_VEC_AVX2_H

#include <immintrin.h>

#include "vec.h"

typedef struct {
    __m256 low, high;
} vec;

static inline vec vec_zero(void) { return (vec){_mm256_setzero_ps(), _mm256_setzero_ps()}; }
static inline vec vec_load(const float *at) { return (vec){_mm256_loadu_ps(at), _mm256_loadu_ps(at + 8)}; }
static inline vec vec_load_part(const float *at, int count) {
    __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    __m256i low = _mm256_cmpgt_epi32(_mm256_set1_epi32(count), lane);
    __m256i high = _mm256_cmpgt_epi32(_mm256_set1_epi32(count - 8), lane);
    return (vec){_mm256_maskload_ps(at, low), _mm256_maskload_ps(at + 8, high)};
}
static inline vec vec_load_float16(const uint16_t *at) {
    return (vec){_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)at)),
                 _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(at + 8)))};
}
static inline vec vec_sub(vec a, vec b) { return (vec){_mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high)}; }
static inline vec vec_fma(vec a, vec b, vec sum) {
    return (vec){_mm256_fmadd_ps(a.low, b.low, sum.low), _mm256_fmadd_ps(a.high, b.high, sum.high)};
}

static inline __m256 fold_to_quarters(__m256 a, __m256 b) {
    return _mm256_add_ps(_mm256_permute2f128_ps(a, b, 0x20), _mm256_permute2f128_ps(a, b, 0x31));
}

INLINE void fold_four(const vec *sums, float *out) {
    __m256 half[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) half[i] = _mm256_add_ps(sums[i].low, sums[i].high);
    __m256 even = fold_to_quarters(half[0], half[2]);
    __m256 odd = fold_to_quarters(half[1], half[3]);
    __m256 eighth = _mm256_add_ps(_mm256_shuffle_ps(even, odd, 0x44), _mm256_shuffle_ps(even, odd, 0xEE));
    /* Block 0: [a, a, b, b], block 1: [c, c, d, d]. */
    __m128 low = _mm256_castps256_ps128(eighth);
    __m128 high = _mm256_extractf128_ps(eighth, 1);
    _mm_storeu_ps(out, _mm_add_ps(_mm_shuffle_ps(low, high, 0x88), _mm_shuffle_ps(low, high, 0xDD)));
}

#endif
