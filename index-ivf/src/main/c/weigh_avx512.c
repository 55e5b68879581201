/* AVX-512. */
#include "vec_avx512.h"

INLINE vec vec_all(float a) { return _mm512_set1_ps(a); }
INLINE vec vec_limit(vec a, float max) { return _mm512_min_ps(_mm512_max_ps(a, vec_all(-max)), vec_all(max)); }
INLINE vec vec_max_size(vec max, vec a) { return _mm512_max_ps(max, _mm512_abs_ps(a)); }
INLINE float vec_largest(vec a) { return _mm512_reduce_max_ps(a); }
INLINE void vec_store_bytes(int8_t *to, vec a) {
    _mm_storeu_si128((__m128i *)to, _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(a)));
}

#define WEIGH weigh_avx512
#include "weigh_body.h"
