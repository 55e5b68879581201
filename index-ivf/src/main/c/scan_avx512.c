/* AVX-512: tiles of 4 queries x 4 rows. */
#include "scan.h"
#include "vec_avx512.h"

/* [a, b] halved: each keeps 8 lanes. */
static inline vec halve(vec a, vec b) {
    return _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x44), _mm512_shuffle_f32x4(a, b, 0xEE));
}

/* Two vectors of two halves: each of the four keeps 4 lanes, a block of its own. */
static inline vec quarter(vec a, vec b) {
    return _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x88), _mm512_shuffle_f32x4(a, b, 0xDD));
}

static inline vec eighth(vec a, vec b) {
    return _mm512_add_ps(_mm512_shuffle_ps(a, b, 0x44), _mm512_shuffle_ps(a, b, 0xEE));
}

static inline vec single(vec a, vec b) {
    return _mm512_add_ps(_mm512_shuffle_ps(a, b, 0x88), _mm512_shuffle_ps(a, b, 0xDD));
}

/* Folding several vectors together costs 3 instructions per vector, folding each alone 7. */
static inline __attribute__((always_inline)) void fold(const vec *sums, const int count, float *out) {
    vec column[4];
    const int groups = count / 4;
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++) {
        vec first = halve(sums[j], sums[groups > 1 ? 4 + j : j]);
        vec second = groups > 2 ? halve(sums[8 + j], sums[12 + j]) : first;
        column[j] = quarter(first, second);
    }
    _mm512_store_ps(out, single(eighth(column[0], column[1]), eighth(column[2], column[3])));
}

static inline __attribute__((always_inline)) uint32_t near_pairs(const float *out, const float *bounds,
                                                                 const int queries) {
    const __m512i query_of_pair = _mm512_set_epi32(3, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0);
    __m512 bound = _mm512_permutexvar_ps(query_of_pair, _mm512_maskz_loadu_ps((__mmask16)((1 << queries) - 1), bounds));
    return _mm512_cmp_ps_mask(_mm512_load_ps(out), bound, _CMP_LE_OQ) & ((1u << queries * TILE_ROWS) - 1);
}

/* Compressed in registers and stored by mask: a compressing store is slow on Zen 4. */
static inline int32_t keep_up_to(float *distances, int64_t *ids, int32_t size, float bound, int64_t last_id) {
    const __m512 bounds = _mm512_set1_ps(bound);
    const __m512i last = _mm512_set1_epi64(last_id);
    int32_t kept = 0;
    for (int32_t i = 0; i < size; i += 16) {
        const __mmask16 there = size - i < 16 ? (__mmask16)((1 << (size - i)) - 1) : (__mmask16)0xFFFF;
        const __mmask8 low = (__mmask8)there, high = (__mmask8)(there >> 8);
        const __m512 distance = _mm512_maskz_loadu_ps(there, distances + i);
        const __m512i low_ids = _mm512_maskz_loadu_epi64(low, ids + i);
        const __m512i high_ids = _mm512_maskz_loadu_epi64(high, ids + i + 8);
        const __mmask16 in_time =
            (__mmask16)(_mm512_cmple_epi64_mask(low_ids, last) | _mm512_cmple_epi64_mask(high_ids, last) << 8);
        const __mmask16 near = (__mmask16)(_mm512_mask_cmp_ps_mask(there, distance, bounds, _CMP_LT_OQ) |
                                           _mm512_mask_cmp_ps_mask(in_time & there, distance, bounds, _CMP_EQ_OQ));
        const int32_t count = __builtin_popcount(near), low_count = __builtin_popcount(near & 0xFF);
        _mm512_mask_storeu_ps(distances + kept, (__mmask16)((1 << count) - 1),
                              _mm512_maskz_compress_ps(near, distance));
        _mm512_mask_storeu_epi64(ids + kept, (__mmask8)((1 << low_count) - 1),
                                 _mm512_maskz_compress_epi64((__mmask8)near, low_ids));
        _mm512_mask_storeu_epi64(ids + kept + low_count, (__mmask8)((1 << (count - low_count)) - 1),
                                 _mm512_maskz_compress_epi64((__mmask8)(near >> 8), high_ids));
        kept += count;
    }
    return kept;
}

#define TILE_QUERIES 4
#define SCAN scan_avx512
#define PICKS picks_avx512
#define BOUND bound_avx512
#define KEEP keep_avx512
#define ORDER order_avx512
#include "scan_body.h"
