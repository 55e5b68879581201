/*
 * What a query is compared with codes by. A component of a row is middle + step c, its code being c + 128. With
 * w = step (q - middle) the squared distance from q is the row's term, the sum of (step c)^2, less twice the sum of w c,
 * plus what is the same for all rows and therefore left out; the negated inner product, with w = step q, is that sum
 * negated. The weights become whole numbers from -127 to 127, of which `slope` makes distances again.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "walk.h"

#define MOST_WEIGHT 127.0f
/* Added and taken off again, this leaves the nearest whole number, the even one of two: as Math.rint does. */
#define ROUNDER 12582912.0f

void weigh(struct search *search, int8_t *weights) {
    const struct image *image = search->image;
    const float *middles = (const float *)((const uint8_t *)image + image->steps_at);
    const float *steps = middles + image->dimension;
    float exact[MOST_DIMENSIONS];
    float most = 0;
    for (int32_t i = 0; i < image->dimension; i++) {
        exact[i] = steps[i] * (search->inner_product ? search->query[i] : search->query[i] - middles[i]);
        float size = fabsf(exact[i]);
        most = size > most ? size : most;
    }
    float unit = most / MOST_WEIGHT;
    /* A query that differs from the middles by too little for floats weighs nothing. */
    float scale = unit > 0 ? 1 / unit : 0;
    if (scale > FLT_MAX) scale = 0;
    int32_t sum = 0;
    for (int32_t i = 0; i < image->dimension; i++) {
        weights[i] = (int8_t)((exact[i] * scale + ROUNDER) - ROUNDER);
        sum += weights[i];
    }
    int32_t padded = (image->dimension + CODE_LANES - 1) / CODE_LANES * CODE_LANES;
    memset(weights + image->dimension, 0, padded - image->dimension);
    search->weights = weights;
    search->start = -128 * sum;
    search->slope = search->inner_product ? -unit : -2 * unit;
}
