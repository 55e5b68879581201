/* AVX-512 with VNNI: one register holds four components of a tile, and one instruction multiplies and adds them all. */
#include <immintrin.h>

#include "codes.h"

static inline __attribute__((always_inline)) void sum_tiles(const struct codes *scan, const int tiles,
                                                            int32_t first_tile, const int queries, int32_t first_query,
                                                            int32_t *out) {
    __m512i sums[16];
    const int8_t *weights = scan->weights + (int64_t)first_query * scan->stride;
    const uint8_t *codes = scan->codes + (int64_t)first_tile * TILE * scan->stride;
    const int64_t tile_bytes = (int64_t)TILE * scan->stride;
#pragma GCC unroll 16
    for (int i = 0; i < queries * tiles; i++) sums[i] = _mm512_set1_epi32(scan->starts[first_query + i / tiles]);
    for (int32_t at = 0; at < scan->stride; at += 4) {
        __m512i rows[4];
#pragma GCC unroll 4
        for (int tile = 0; tile < tiles; tile++) rows[tile] = _mm512_loadu_si512(codes + tile * tile_bytes + at * TILE);
#pragma GCC unroll 8
        for (int query = 0; query < queries; query++) {
            const int32_t four = four_weights(weights + query * (int64_t)scan->stride + at);
            __m512i weight = _mm512_set1_epi32(four);
#pragma GCC unroll 4
            for (int tile = 0; tile < tiles; tile++) {
                sums[query * tiles + tile] = _mm512_dpbusd_epi32(sums[query * tiles + tile], rows[tile], weight);
            }
        }
    }
#pragma GCC unroll 16
    for (int i = 0; i < queries * tiles; i++) _mm512_store_si512(out + i * TILE, sums[i]);
}

static inline __attribute__((always_inline)) void append_near(const struct codes *scan, int32_t query,
                                                              int32_t first_row, const int32_t *sums,
                                                              const int32_t *low_sums) {
    __m512 products = _mm512_cvtepi32_ps(_mm512_load_si512(sums));
    if (low_sums) {
        __m512 low = _mm512_cvtepi32_ps(_mm512_load_si512(low_sums));
        products = _mm512_add_ps(products, _mm512_mul_ps(low, _mm512_set1_ps(LOW_UNIT)));
    }
    products = _mm512_mul_ps(_mm512_loadu_ps(scan->scales + first_row), products);
    products = _mm512_mul_ps(_mm512_set1_ps(scan->slopes[query]), products);
    __m512 scores = _mm512_add_ps(_mm512_loadu_ps(scan->terms + first_row), products);
    scores = _mm512_add_ps(_mm512_set1_ps(scan->bases[query]), scores);
    /* False for NaN, so deleted rows never get in. */
    __mmask16 near = _mm512_cmp_ps_mask(scores, _mm512_set1_ps(scan->bounds[query]), _CMP_LE_OQ);
    int32_t left = scan->end - first_row;
    if (left < TILE) near &= (__mmask16)((1 << left) - 1);
    if (near) {
        static const int32_t ordinals[TILE] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
        __m512i rows = _mm512_add_epi32(_mm512_set1_epi32(first_row), _mm512_loadu_si512(ordinals));
        int64_t at = (int64_t)query * scan->room + scan->found[query];
        /* Compressed in a register and stored whole: a compressing store is slow on Zen 4. */
        _mm512_storeu_ps(scan->scores + at, _mm512_maskz_compress_ps(near, scores));
        _mm512_storeu_si512(scan->rows + at, _mm512_maskz_compress_epi32(near, rows));
        scan->found[query] += __builtin_popcount(near);
    }
}

#define MAX_QUERIES 8
#define QUERY_TILES 2
#define LONE_TILES 4
#define SCAN codes_vnni
#include "codes_body.h"
