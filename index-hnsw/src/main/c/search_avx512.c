/* Graph search, scan and insertion with AVX-512. */
#include "search.h"
#include "vec_avx512.h"

#define SEARCH search_avx512
#define SCAN scan_avx512
#define RERANK rerank_avx512
#include "float_body.h"

#define GROUP_QUERIES 4
#define GROUP_ROWS 4
#define SCAN_GROUP scan_group_avx512
#include "group_body.h"

INLINE void add_sums(__m128i some, uint32_t *sums) {
    __m256i *at = (__m256i *)sums;
    _mm256_store_si256(at, _mm256_add_epi32(_mm256_load_si256(at), _mm256_cvtepu16_epi32(some)));
}

INLINE __m128i fold_groups(__m512i sums) {
    __m256i half = _mm256_add_epi16(_mm512_castsi512_si256(sums), _mm512_extracti64x4_epi64(sums, 1));
    return _mm_add_epi16(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}

/* Four groups per register. `even` sums whole 16-bit lanes, `odd` their high bytes, which are subtracted from `even` at the end. */
INLINE void sum_run(const uint8_t *codes, const uint8_t *table, int32_t groups, uint32_t *sums) {
    const __m512i half = _mm512_set1_epi8(15);
    __m512i even[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};
    __m512i odd[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};
    for (int64_t at = 0; at < (int64_t)groups * GROUP_BYTES; at += 64) {
        __m512i both = _mm512_loadu_si512(codes + at);
        __m512i entries = _mm512_loadu_si512(table + at);
        __m512i low = _mm512_shuffle_epi8(entries, _mm512_and_si512(both, half));
        __m512i high = _mm512_shuffle_epi8(entries, _mm512_and_si512(_mm512_srli_epi16(both, 4), half));
        even[0] = _mm512_add_epi16(even[0], low);
        odd[0] = _mm512_add_epi16(odd[0], _mm512_srli_epi16(low, 8));
        even[1] = _mm512_add_epi16(even[1], high);
        odd[1] = _mm512_add_epi16(odd[1], _mm512_srli_epi16(high, 8));
    }
    for (int i = 0; i < 2; i++) {
        __m128i evens = fold_groups(_mm512_sub_epi16(even[i], _mm512_slli_epi16(odd[i], 8)));
        __m128i odds = fold_groups(odd[i]);
        add_sums(_mm_unpacklo_epi16(evens, odds), sums + 16 * i);
        add_sums(_mm_unpackhi_epi16(evens, odds), sums + 16 * i + 8);
    }
}

#define SEARCH_ESTIMATES search_estimates_avx512
#include "estimate_body.h"

#define INSERT insert_avx512
#define TRIM trim_avx512
#include "insert_body.h"
