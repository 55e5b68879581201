/*
 * The integer weights of a query for codes; QueryWeights.java explains them and performs the same steps, so that both get the
 * same bits. `slope` scales sums, times a row's scale, back to distances.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "search.h"

#define MAX_WEIGHT 127
/* Below this mean absolute weight, weights get another part. */
#define MIN_MEAN 16
/* Adding and subtracting this rounds to the nearest integer, ties to even, as Math.rint does. */
#define ROUNDER 12582912.0f

/* 1 / unit, or 0 if the query differs from the center by too little for the reciprocal to be finite; then all weights are 0. */
static float scale_of(float unit) { return unit > 0 && 1 / unit <= FLT_MAX ? 1 / unit : 0; }

static int32_t nearest(float value) { return (int32_t)((value + ROUNDER) - ROUNDER); }

/* Writes the weights in a constant number of parts; returns the sum of their absolute values. */
INLINE int64_t write_parts(const float *exact, int32_t dimension, float unit, const int32_t parts,
                           int8_t *restrict weights) {
    const float scale = scale_of(unit);
    int64_t sizes = 0;
    for (int32_t i = 0; i < dimension; i++) {
        int32_t weight = nearest(exact[i] * scale);
        sizes += weight < 0 ? -weight : weight;
        for (int32_t part = parts - 1; part > 0; part--) {
            const int32_t higher = (weight + PART_UNIT / 2) >> PART_BITS;
            weights[part * MAX_DIMENSIONS + i] = (int8_t)(weight - higher * PART_UNIT);
            weight = higher;
        }
        weights[i] = (int8_t)weight;
    }
    return sizes;
}

void weigh(const struct search *search) {
    const struct image *image = search->image;
    const int32_t dimension = image->dimension;
    const float *center = (const float *)(image->base + image->quantizer_at);
    int8_t *weights = search->weights;
    float exact[MAX_DIMENSIONS];
    float max = 0;
    for (int32_t i = 0; i < dimension; i++) {
        const float component = search->inner_product ? search->query[i] : search->query[i] - center[i];
        exact[i] = component > FLT_MAX ? FLT_MAX : component < -FLT_MAX ? -FLT_MAX : component;
        const float size = fabsf(exact[i]);
        max = size > max ? size : max;
    }
    struct progress *progress = search->progress;
    const int64_t enough = MIN_MEAN * (int64_t)dimension;
    float unit = max / MAX_WEIGHT;
    progress->parts = 1;
    if (write_parts(exact, dimension, unit, 1, weights) < enough) {
        unit = max / (MAX_WEIGHT * PART_UNIT);
        progress->parts = 2;
        if (write_parts(exact, dimension, unit, 2, weights) < enough) {
            unit = max / (MAX_WEIGHT * PART_UNIT * PART_UNIT);
            progress->parts = 3;
            write_parts(exact, dimension, unit, 3, weights);
        }
    }
    const int32_t padded = (dimension + CODE_LANES - 1) / CODE_LANES * CODE_LANES;
    for (int32_t part = 0; part < progress->parts; part++, weights += MAX_DIMENSIONS) {
        int32_t sum = 0;
        for (int32_t i = 0; i < dimension; i++) sum += weights[i];
        memset(weights + dimension, 0, padded - dimension);
        progress->starts[part] = -128 * sum;
    }
    progress->slope = search->inner_product ? -unit : -2 * unit;
}
