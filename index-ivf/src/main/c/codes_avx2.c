/* AVX2: a register of widened bytes holds four components of four rows. */
#include "bytes_avx2.h"
#include "codes_append.h"

static inline __attribute__((always_inline)) void sum_tiles(const struct codes *scan, const int tiles,
                                                            int32_t first_tile, const int queries, int32_t first_query,
                                                            int32_t *out) {
    const int8_t *weights = scan->weights + (int64_t)first_query * scan->stride;
    const uint8_t *codes = scan->codes + (int64_t)first_tile * TILE * scan->stride;
    __m256i pairs[8];
    _Static_assert(TILE == 16, "four registers per tile");
    (void)tiles;
#pragma GCC unroll 8
    for (int i = 0; i < queries * 4; i++) pairs[i] = _mm256_setzero_si256();
    for (int32_t at = 0; at < scan->stride; at += 4) {
        __m256i rows[4];
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++) rows[i] = load_codes(codes + at * TILE + i * 16);
#pragma GCC unroll 2
        for (int query = 0; query < queries; query++) {
            const int32_t four = four_weights(weights + query * (int64_t)scan->stride + at);
            __m128i weight = _mm_set1_epi32(four);
#pragma GCC unroll 4
            for (int i = 0; i < 4; i++) {
                pairs[query * 4 + i] = add_products(pairs[query * 4 + i], rows[i], weight);
            }
        }
    }
#pragma GCC unroll 2
    for (int query = 0; query < queries; query++) {
        __m256i start = _mm256_set1_epi32(scan->starts[first_query + query]);
#pragma GCC unroll 2
        for (int half = 0; half < 2; half++) {
            /* Two pairs of each of eight rows, added: rows 0 1 4 5 2 3 6 7, which the permutation puts in order. */
            __m256i sums = _mm256_hadd_epi32(pairs[query * 4 + half * 2], pairs[query * 4 + half * 2 + 1]);
            sums = _mm256_add_epi32(_mm256_permute4x64_epi64(sums, 0xD8), start);
            _mm256_storeu_si256((__m256i *)(out + query * TILE + half * 8), sums);
        }
    }
}

#define MAX_QUERIES 2
#define QUERY_TILES 1
#define LONE_TILES 1
#define SCAN codes_avx2
#include "codes_body.h"
