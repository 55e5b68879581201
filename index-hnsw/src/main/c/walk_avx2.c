/* AVX2 with FMA: two registers a vector. */
#include <immintrin.h>

#include "walk.h"

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
static inline vec vec_sub(vec a, vec b) {
    return (vec){_mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high)};
}
static inline vec vec_fma(vec a, vec b, vec sum) {
    return (vec){_mm256_fmadd_ps(a.low, b.low, sum.low), _mm256_fmadd_ps(a.high, b.high, sum.high)};
}

static inline __m128 fold_to_quarter(vec a) {
    __m256 half = _mm256_add_ps(a.low, a.high);
    return _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
}

static inline __attribute__((always_inline)) void fold(const vec *sums, float *out) {
    __m128 a = fold_to_quarter(sums[0]);
    __m128 b = fold_to_quarter(sums[1]);
    __m128 c = fold_to_quarter(sums[2]);
    __m128 d = fold_to_quarter(sums[3]);
    __m128 ab = _mm_add_ps(_mm_movelh_ps(a, b), _mm_movehl_ps(b, a));
    __m128 cd = _mm_add_ps(_mm_movelh_ps(c, d), _mm_movehl_ps(d, c));
    _mm_storeu_ps(out, _mm_add_ps(_mm_shuffle_ps(ab, cd, 0x88), _mm_shuffle_ps(ab, cd, 0xDD)));
}

#define WALK walk_avx2
#define SCAN scan_avx2
#define RERANK rerank_avx2
#include "float_body.h"

#define INSERT insert_avx2
#define TRIM trim_avx2
#include "insert_body.h"
