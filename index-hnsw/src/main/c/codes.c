/*
 * The integer weights of a query for codes; QueryWeights.java explains them and performs the same steps, so that both get the
 * same bits. A fine weight has two parts that are summed one after the other. `slope` scales sums back to distances.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "search.h"

#define MAX_WEIGHT 127.0f
#define MAX_FINE_WEIGHT (127.0f * HIGH_UNIT)
/* Below this mean absolute weight, fine weights are used. */
#define MIN_MEAN 16
/* Adding and subtracting this rounds to the nearest integer, ties to even, as Math.rint does. */
#define ROUNDER 12582912.0f

/* 1 / unit, or 0 if the query differs from the zero points by too little for the reciprocal to be finite; then all weights are 0. */
static float scale_of(float unit) { return unit > 0 && 1 / unit <= FLT_MAX ? 1 / unit : 0; }

static int32_t start_of(const int8_t *weights, int32_t dimension) {
    int32_t sum = 0;
    for (int32_t i = 0; i < dimension; i++) sum += weights[i];
    return -128 * sum;
}

static int32_t nearest(float value) { return (int32_t)((value + ROUNDER) - ROUNDER); }

void weigh(const struct search *search) {
    const struct image *image = search->image;
    const int32_t dimension = image->dimension;
    const float *zero_points = (const float *)(image->base + image->quantizer_at);
    const float *scales = zero_points + dimension;
    const int32_t padded = (dimension + CODE_LANES - 1) / CODE_LANES * CODE_LANES;
    int8_t *high = search->weights;
    int8_t *low = search->weights + MAX_DIMENSIONS;
    memset(high, 0, padded);
    float exact[MAX_DIMENSIONS];
    float max = 0;
    for (int32_t i = 0; i < dimension; i++) {
        exact[i] = scales[i] * (search->inner_product ? search->query[i] : search->query[i] - zero_points[i]);
        float size = fabsf(exact[i]);
        max = size > max ? size : max;
    }
    float unit = max / MAX_WEIGHT;
    float scale = scale_of(unit);
    int32_t sizes = 0;
    for (int32_t i = 0; i < dimension; i++) {
        int32_t weight = nearest(exact[i] * scale);
        high[i] = (int8_t)weight;
        sizes += weight < 0 ? -weight : weight;
    }
    int fine = sizes < MIN_MEAN * dimension;
    if (fine) {
        memset(low, 0, padded);
        unit = max / MAX_FINE_WEIGHT;
        scale = scale_of(unit);
        for (int32_t i = 0; i < dimension; i++) {
            int32_t weight = nearest(exact[i] * scale);
            high[i] = (int8_t)((weight + HIGH_UNIT / 2) >> HIGH_BITS);
            low[i] = (int8_t)(weight - high[i] * HIGH_UNIT);
        }
    }
    struct progress *progress = search->progress;
    progress->fine = fine;
    progress->high_start = start_of(high, dimension);
    progress->low_start = fine ? start_of(low, dimension) : 0;
    progress->slope = search->inner_product ? -unit : -2 * unit;
}

void use_weights(struct search *search) {
    const struct progress *progress = search->progress;
    search->high = search->weights;
    search->low = progress->fine ? search->weights + MAX_DIMENSIONS : 0;
    search->high_start = progress->high_start;
    search->low_start = progress->low_start;
    search->slope = progress->slope;
}
