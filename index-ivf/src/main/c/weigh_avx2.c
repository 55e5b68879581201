/* AVX2. */
#include "vec_avx2.h"

INLINE vec vec_all(float a) { return (vec){_mm256_set1_ps(a), _mm256_set1_ps(a)}; }
INLINE vec vec_limit(vec a, float max) {
    const __m256 least = _mm256_set1_ps(-max), most = _mm256_set1_ps(max);
    return (vec){_mm256_min_ps(_mm256_max_ps(a.low, least), most), _mm256_min_ps(_mm256_max_ps(a.high, least), most)};
}
INLINE vec vec_max_size(vec max, vec a) {
    const __m256 sign = _mm256_set1_ps(-0.f);
    return (vec){_mm256_max_ps(max.low, _mm256_andnot_ps(sign, a.low)),
                 _mm256_max_ps(max.high, _mm256_andnot_ps(sign, a.high))};
}
INLINE float vec_largest(vec a) {
    const __m256 eight = _mm256_max_ps(a.low, a.high);
    __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    four = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(four, _mm_movehdup_ps(four)));
}
INLINE void vec_store_bytes(int8_t *to, vec a) {
    /* Packs within halves of a register: 0-3 8-11 4-7 12-15. */
    const __m256i pairs = _mm256_packs_epi32(_mm256_cvtps_epi32(a.low), _mm256_cvtps_epi32(a.high));
    const __m256i in_order = _mm256_permute4x64_epi64(pairs, 0xD8);
    _mm_storeu_si128((__m128i *)to,
                     _mm_packs_epi16(_mm256_castsi256_si128(in_order), _mm256_extracti128_si256(in_order, 1)));
}

#define WEIGH weigh_avx2
#include "weigh_body.h"
