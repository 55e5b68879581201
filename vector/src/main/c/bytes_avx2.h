/* Byte codes for AVX2: widened to 16 bits before they are multiplied, since the instruction that multiplies bytes saturates. */
#ifndef ROOST_BYTES_AVX2_H
#define ROOST_BYTES_AVX2_H

#include <immintrin.h>
#include <stdint.h>

/* 16 unsigned codes. */
static inline __m256i load_codes(const uint8_t *at) {
    return _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)at));
}

/* Adds the products of 16 codes and 16 signed weights to 8 sums, in pairs. */
static inline __m256i add_products(__m256i sums, __m256i codes, __m128i weights) {
    return _mm256_add_epi32(sums, _mm256_madd_epi16(codes, _mm256_cvtepi8_epi16(weights)));
}

#endif
