/* AVX-512 with VNNI: one instruction multiplies and adds 64 components of a row. */
#include <immintrin.h>

#include "tile.h"

INLINE __m128i fold(__m512i sum) {
    __m256i half = _mm256_add_epi32(_mm512_castsi512_si256(sum), _mm512_extracti64x4_epi64(sum, 1));
    return _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}

INLINE void sum_tile(const uint8_t *const *rows, const int8_t *weights, int64_t bytes, int32_t start, int32_t *sums) {
    __m512i lanes[TILE];
    for (int row = 0; row < TILE; row++) lanes[row] = _mm512_setzero_si512();
    for (int64_t at = 0; at < bytes; at += CODE_LANES) {
        __m512i weight = _mm512_loadu_si512(weights + at);
#pragma GCC unroll 4
        for (int row = 0; row < TILE; row++) {
            lanes[row] = _mm512_dpbusd_epi32(lanes[row], _mm512_loadu_si512(rows[row] + at), weight);
        }
    }
    _Static_assert(TILE == 4, "two pairs");
    __m128i pairs = _mm_hadd_epi32(fold(lanes[0]), fold(lanes[1]));
    __m128i others = _mm_hadd_epi32(fold(lanes[2]), fold(lanes[3]));
    _mm_store_si128((__m128i *)sums, _mm_add_epi32(_mm_hadd_epi32(pairs, others), _mm_set1_epi32(start)));
}

#define SEARCH search_codes_vnni
#include "code_body.h"

#define INSERT insert_codes_vnni
#define TRIM trim_codes_vnni
#include "code_insert.h"
