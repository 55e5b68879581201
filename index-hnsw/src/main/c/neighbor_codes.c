/*
 * The query's lookup table for neighbor codes (Gao and Long, RaBitQ, SIGMOD 2024; Gou et al., SymphonyQG, SIGMOD 2025). A
 * neighbor's code is the signs s of the rotated difference r of its vector from the node's. With f = |r|^2 / sum |r|,
 * the product of r and another rotated vector y is about f times the product of s and y. So the only part of an estimate that
 * depends on the query is the sum of its rotated components with the signs of the code. The table has these sums per group
 * of components, as bytes in units of `slope` / 2 (Andre et al., FastScan, VLDB 2015).
 *
 * NeighborCodes.java performs the same steps, so that both get the same bits.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "search.h"

#define ROTATIONS 4
#define MAX_ENTRY 255.0f

/* 64 signs: element `index` of a pseudorandom sequence (Steele et al., SplitMix, OOPSLA 2014). */
static uint64_t signs_at(uint64_t index) {
    uint64_t bits = (index + 1) * 0x9e3779b97f4a7c15u;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    return bits ^ (bits >> 31);
}

/* The Hadamard transform without its scale; `length` is a power of two, at least PADDED_TO. */
static void transform(float *values, int32_t length) {
    for (int32_t half = 1; half < length; half *= 2) {
        for (int32_t from = 0; from < length; from += 2 * half) {
            float *restrict low = values + from;
            float *restrict high = values + from + half;
            for (int32_t i = 0; i < half; i++) {
                float a = low[i];
                float b = high[i];
                low[i] = a + b;
                high[i] = a - b;
            }
        }
    }
}

/*
 * A fixed pseudorandom rotation: several rounds of random signs and a Hadamard transform (Ailon and Chazelle, 2006). If the length
 * is not a power of two, rounds transform the beginning and the end alternately, and the two halves are mixed after each round.
 */
static void rotate(float *values, int32_t length) {
    int32_t part = PADDED_TO;
    while (2 * part <= length) part *= 2;
    const float scale = (float)(1 / sqrt((double)part));
    const float half_scale = (float)(1 / sqrt(2.0));
    for (int32_t round = 0; round < ROTATIONS; round++) {
        for (int32_t from = 0; from < length; from += 64) {
            const uint64_t signs = signs_at((uint64_t)(round * (MAX_DIMENSIONS / 64) + from / 64));
            const int32_t count = length - from < 64 ? length - from : 64;
            for (int32_t i = 0; i < count; i++) {
                values[from + i] = signs >> i & 1 ? -values[from + i] : values[from + i];
            }
        }
        float *transformed = values + (round % 2 == 0 ? 0 : length - part);
        transform(transformed, part);
        for (int32_t i = 0; i < part; i++) transformed[i] *= scale;
        if (part == length) continue;
        for (int32_t i = 0; i < length / 2; i++) {
            float a = values[i];
            float b = values[i + length / 2];
            values[i] = (a + b) * half_scale;
            values[i + length / 2] = (a - b) * half_scale;
        }
    }
}

void tabulate(const struct search *search) {
    uint8_t *table = (uint8_t *)search->weights;
    const int32_t dimension = search->image->dimension;
    const int32_t length = code_length(dimension);
    float rotated[MAX_DIMENSIONS];
    memcpy(rotated, search->query, dimension * sizeof(float));
    memset(rotated + dimension, 0, (length - dimension) * sizeof(float));
    rotate(rotated, length);
    float sizes = 0;
    float widest = 0;
    for (int32_t at = 0; at < length; at += GROUP) {
        float size = 0;
        for (int32_t i = 0; i < GROUP; i++) size += fabsf(rotated[at + i]);
        sizes += size;
        widest = size > widest ? size : widest;
    }
    const float unit = widest / MAX_ENTRY;
    /* 0 if the query is too short for the reciprocal to be finite; then all table entries are 0. */
    const float scale = unit > 0 && 1 / unit <= FLT_MAX ? 1 / unit : 0;
    for (int32_t at = 0; at < length; at += GROUP, table += GROUP_BYTES) {
        const float *group = rotated + at;
        float sums[GROUP_BYTES];
        sums[0] = 0;
        for (int32_t i = 0; i < GROUP; i++) sums[0] -= group[i] < 0 ? group[i] : 0;
        for (int32_t i = 0; i < GROUP; i++) {
            for (int32_t code = 0; code < 1 << i; code++) sums[(1 << i) + code] = sums[code] + group[i];
        }
        for (int32_t code = 0; code < GROUP_BYTES; code++) table[code] = (uint8_t)(int32_t)(sums[code] * scale + 0.5f);
    }
    search->progress->slope = 2 * unit;
    search->progress->offset = scale > 0 ? sizes : 0;
}
