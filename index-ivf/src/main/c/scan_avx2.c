#include <immintrin.h>
#include <stdint.h>

static inline __m256 load_tail(const float *p, int n) {
    static const int32_t mask[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
    return _mm256_maskload_ps(p, _mm256_loadu_si256((const __m256i *)(mask + 8 - n)));
}

static inline float sum(__m256 v) {
    __m128 half = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    half = _mm_add_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_add_ss(half, _mm_shuffle_ps(half, half, 1)));
}

#define SCAN roost_scan_avx2
#define VEC __m256
#define WIDTH 8
#define ZERO() _mm256_setzero_ps()
#define LOAD(p) _mm256_loadu_ps(p)
#define LOAD_TAIL(p, n) load_tail(p, n)
#define SUB(a, b) _mm256_sub_ps(a, b)
#define FMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#define SUM(v) sum(v)

#include "scan_vector.h"
