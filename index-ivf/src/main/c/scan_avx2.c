/* AVX2 with FMA and F16C: two registers per vector, tiles of 1 query x 4 rows fill half of the 16 registers. */
#include <immintrin.h>

#include "scan_near.h"

typedef struct {
    __m256 low, high;
} vec;

static inline vec vec_zero(void) { return (vec){_mm256_setzero_ps(), _mm256_setzero_ps()}; }
static inline vec vec_load(const float *at) { return (vec){_mm256_loadu_ps(at), _mm256_loadu_ps(at + 8)}; }
static inline vec vec_load_float16(const uint16_t *at) {
    return (vec){_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)at)),
                 _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(at + 8)))};
}
static inline vec vec_sub(vec a, vec b) { return (vec){_mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high)}; }
static inline vec vec_fma(vec a, vec b, vec sum) {
    return (vec){_mm256_fmadd_ps(a.low, b.low, sum.low), _mm256_fmadd_ps(a.high, b.high, sum.high)};
}

static inline __m256 quarter(__m256 a, __m256 b) {
    return _mm256_add_ps(_mm256_permute2f128_ps(a, b, 0x20), _mm256_permute2f128_ps(a, b, 0x31));
}

static inline __attribute__((always_inline)) void fold(const vec *sums, const int count, float *out) {
#pragma GCC unroll 4
    for (int i = 0; i < count; i += 4) {
        __m256 half[4];
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++) half[j] = _mm256_add_ps(sums[i + j].low, sums[i + j].high);
        __m256 even = quarter(half[0], half[2]);
        __m256 odd = quarter(half[1], half[3]);
        __m256 eighth = _mm256_add_ps(_mm256_shuffle_ps(even, odd, 0x44), _mm256_shuffle_ps(even, odd, 0xEE));
        /* Block 0: [a, a, b, b], block 1: [c, c, d, d]. */
        __m128 low = _mm256_castps256_ps128(eighth);
        __m128 high = _mm256_extractf128_ps(eighth, 1);
        _mm_store_ps(out + i, _mm_add_ps(_mm_shuffle_ps(low, high, 0x88), _mm_shuffle_ps(low, high, 0xDD)));
    }
}

#define TILE_QUERIES 1
#define SCAN scan_avx2
#define PICKS picks_avx2
#define BOUND bound_avx2
#define KEEP keep_avx2
#define ORDER order_avx2
#include "scan_body.h"
