/* Graph search and insertion by codes with AVX2. */
#include "bytes_avx2.h"
#include "tile.h"

INLINE __m128i fold(__m256i sum) {
    return _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
}

INLINE void sum_tile(const uint8_t *const *rows, const int8_t *weights, int64_t bytes, int32_t start, int32_t *sums) {
    __m256i lanes[TILE];
    for (int row = 0; row < TILE; row++) lanes[row] = _mm256_setzero_si256();
    for (int64_t at = 0; at < bytes; at += 16) {
        __m128i weight = _mm_loadu_si128((const __m128i *)(weights + at));
#pragma GCC unroll 4
        for (int row = 0; row < TILE; row++) lanes[row] = add_products(lanes[row], load_codes(rows[row] + at), weight);
    }
    _Static_assert(TILE == 4, "two pairs");
    __m128i pairs = _mm_hadd_epi32(fold(lanes[0]), fold(lanes[1]));
    __m128i others = _mm_hadd_epi32(fold(lanes[2]), fold(lanes[3]));
    _mm_store_si128((__m128i *)sums, _mm_add_epi32(_mm_hadd_epi32(pairs, others), _mm_set1_epi32(start)));
}

#define SEARCH search_codes_avx2
#include "code_body.h"

#define INSERT insert_codes_avx2
#define TRIM trim_codes_avx2
#include "code_insert.h"
