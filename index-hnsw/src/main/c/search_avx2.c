/* Graph search, scan and insertion with AVX2. */
#include "search.h"
#include "vec_avx2.h"

#define SEARCH search_avx2
#define SCAN scan_avx2
#define RERANK rerank_avx2
#include "float_body.h"

#define GROUP_QUERIES 1
#define GROUP_ROWS 4
#define SCAN_GROUP scan_group_avx2
#include "group_body.h"

INLINE void add_sums(__m128i some, uint32_t *sums) {
    __m256i *at = (__m256i *)sums;
    _mm256_store_si256(at, _mm256_add_epi32(_mm256_load_si256(at), _mm256_cvtepu16_epi32(some)));
}

/* Two groups per register. `even` sums whole 16-bit lanes, `odd` their high bytes, which are subtracted from `even` at the end. */
INLINE void sum_run(const uint8_t *codes, const uint8_t *table, int32_t groups, uint32_t *sums) {
    const __m256i half = _mm256_set1_epi8(15);
    __m256i even[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
    __m256i odd[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
    for (int64_t at = 0; at < (int64_t)groups * GROUP_BYTES; at += 32) {
        __m256i both = _mm256_loadu_si256((const __m256i *)(codes + at));
        __m256i entries = _mm256_loadu_si256((const __m256i *)(table + at));
        __m256i low = _mm256_shuffle_epi8(entries, _mm256_and_si256(both, half));
        __m256i high = _mm256_shuffle_epi8(entries, _mm256_and_si256(_mm256_srli_epi16(both, 4), half));
        even[0] = _mm256_add_epi16(even[0], low);
        odd[0] = _mm256_add_epi16(odd[0], _mm256_srli_epi16(low, 8));
        even[1] = _mm256_add_epi16(even[1], high);
        odd[1] = _mm256_add_epi16(odd[1], _mm256_srli_epi16(high, 8));
    }
    for (int i = 0; i < 2; i++) {
        __m256i rest = _mm256_sub_epi16(even[i], _mm256_slli_epi16(odd[i], 8));
        __m128i evens = _mm_add_epi16(_mm256_castsi256_si128(rest), _mm256_extracti128_si256(rest, 1));
        __m128i odds = _mm_add_epi16(_mm256_castsi256_si128(odd[i]), _mm256_extracti128_si256(odd[i], 1));
        add_sums(_mm_unpacklo_epi16(evens, odds), sums + 16 * i);
        add_sums(_mm_unpackhi_epi16(evens, odds), sums + 16 * i + 8);
    }
}

#define SEARCH_ESTIMATES search_estimates_avx2
#include "estimate_body.h"

#define INSERT insert_avx2
#define TRIM trim_avx2
#include "insert_body.h"
