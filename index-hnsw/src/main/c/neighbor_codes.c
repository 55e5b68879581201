/*
 * What a query is compared with the codes beside a node by (Gao and Long, RaBitQ, SIGMOD 2024; Gou et al., SymphonyQG, SIGMOD
 * 2025). A neighbour's code is the signs s of the rotated difference r of its vector from the node's. With f = |r|^2 / sum |r|
 * the product of r and of another vector's difference from the node is about f times the product of s with that, rotated. So
 * all that depends on the query is a sum of its rotated components, each with the sign that the code says. These sums are
 * taken by groups of components, in a byte each, of `slope` / 2 from one to the next (Andre et al., FastScan, VLDB 2015).
 *
 * NeighborCodes.java does the same, step by step, so that both get the same bits.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "walk.h"

#define ROTATIONS 4
#define MOST_ENTRY 255.0f

/* 64 signs: number `index` of a random sequence (Steele et al., SplitMix, OOPSLA 2014). */
static uint64_t signs_at(uint64_t index) {
    uint64_t bits = (index + 1) * 0x9e3779b97f4a7c15u;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    return bits ^ (bits >> 31);
}

/* The Hadamard transform but for its scale; `length` is a power of two, from PADDED_TO. */
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
 * A random rotation: signs, then a Hadamard transform, several times over (Ailon and Chazelle, 2006). Where the length is no
 * power of two the transforms are of its beginning and of its end in turns, and each half is mixed with the other between.
 */
static void rotate(float *values, int32_t length) {
    int32_t part = PADDED_TO;
    while (2 * part <= length) part *= 2;
    const float scale = (float)(1 / sqrt((double)part));
    const float half_scale = (float)(1 / sqrt(2.0));
    for (int32_t round = 0; round < ROTATIONS; round++) {
        for (int32_t from = 0; from < length; from += 64) {
            const uint64_t signs = signs_at((uint64_t)(round * (MOST_DIMENSIONS / 64) + from / 64));
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

void tabulate(const struct search *search, uint8_t *table) {
    const int32_t dimension = search->image->dimension;
    const int32_t length = code_length(dimension);
    float rotated[MOST_DIMENSIONS];
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
    const float unit = widest / MOST_ENTRY;
    /* 0 where the query is so short that its components weigh nothing. */
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
