/*
 * The weights of queries, shared by all instruction sets. Its twin in Java, JavaScan.weigh, takes the same steps, so that both give
 * the same bits. The source that includes it includes a vec_*.h and defines:
 *   vec_all(a)              a in every lane
 *   vec_limit(a, max)       each lane limited to -max to max
 *   vec_max_size(max, a)    the greater of max and the absolute value, per lane
 *   vec_largest(a)          the greatest lane
 *   vec_store_bytes(to, a)  lanes that are whole numbers of a byte
 *   WEIGH                   the name of the function to define
 */
#include <float.h>

#include "codes.h"

/* Added and subtracted, it rounds a float of a smaller absolute value to the nearest whole number, ties to even. */
#define ROUNDER 0x1.8p23f
/* A greater base could take a row's score out of the range of float. */
#define MAX_BASE 0x1p126f

INLINE vec component(const struct codes *scan, const int inner_product, const float *query, int32_t at) {
    const vec components = vec_load(query + at);
    return inner_product ? components : vec_limit(vec_sub(components, vec_load(scan->center + at)), FLT_MAX);
}

INLINE void store_weights(int8_t *all, int32_t stride, int32_t q, int32_t at, vec weights) {
    int8_t *to = all + (int64_t)q * stride + at;
    if (at + LANES <= stride) {
        vec_store_bytes(to, weights);
    } else if (at < stride) {
        int8_t some[LANES];
        vec_store_bytes(some, weights);
        memcpy(to, some, (size_t)(stride - at));
    }
}

/* Weights of what the weights of a query have lost. */
INLINE void weigh_low(const struct codes *scan, const int inner_product, int32_t q, float unit, float per_unit) {
    const float *query = scan->queries + (int64_t)q * scan->components;
    const float per_low = per_unit / LOW_UNIT <= FLT_MAX ? per_unit / LOW_UNIT : 0;
    float folded[4];
    vec sums[4] = {vec_zero(), vec_zero(), vec_zero(), vec_zero()};
    for (int32_t at = 0; at < scan->components; at += LANES) {
        const vec exact = component(scan, inner_product, query, at);
        const vec weights = vec_sub(vec_fma(exact, vec_all(per_unit), vec_all(ROUNDER)), vec_all(ROUNDER));
        const vec left = vec_fma(weights, vec_all(-unit), exact);
        const vec low = vec_sub(vec_fma(left, vec_all(per_low), vec_all(ROUNDER)), vec_all(ROUNDER));
        const vec lost = vec_fma(low, vec_all(-unit * LOW_UNIT), left);
        sums[0] = vec_fma(lost, lost, sums[0]);
        sums[1] = vec_fma(low, vec_all(1), sums[1]);
        store_weights(scan->low_weights, scan->stride, q, at, low);
    }
    fold_four(sums, folded);
    scan->errors[q] = folded[0];
    scan->low_starts[q] = -128 * (int32_t)folded[1];
}

INLINE void weigh(const struct codes *scan, const int inner_product, int32_t q) {
    const float *query = scan->queries + (int64_t)q * scan->components;
    float folded[4];
    /* Squares and, under inner product, products with the center. */
    vec sums[4] = {vec_zero(), vec_zero(), vec_zero(), vec_zero()};
    vec maxima = vec_zero();
    for (int32_t at = 0; at < scan->components; at += LANES) {
        const vec exact = component(scan, inner_product, query, at);
        maxima = vec_max_size(maxima, exact);
        sums[0] = vec_fma(exact, exact, sums[0]);
        if (inner_product) sums[1] = vec_fma(exact, vec_load(scan->center + at), sums[1]);
    }
    fold_four(sums, folded);
    float base = inner_product ? -folded[1] : folded[0];
    /* Not a number if infinite products cancel out. */
    base = base >= -MAX_BASE ? base : -MAX_BASE;
    scan->bases[q] = base <= MAX_BASE ? base : MAX_BASE;
    scan->lengths[q] = folded[0];
    const float unit = vec_largest(maxima) / MAX_WEIGHT;
    float per_unit = unit > 0 ? 1 / unit : 0;
    per_unit = per_unit <= FLT_MAX ? per_unit : 0;
    /* Squared errors, weights, and their sizes. */
    for (int i = 0; i < 3; i++) sums[i] = vec_zero();
    for (int32_t at = 0; at < scan->components; at += LANES) {
        const vec exact = component(scan, inner_product, query, at);
        const vec weights = vec_sub(vec_fma(exact, vec_all(per_unit), vec_all(ROUNDER)), vec_all(ROUNDER));
        const vec lost = vec_fma(weights, vec_all(-unit), exact);
        sums[0] = vec_fma(lost, lost, sums[0]);
        sums[1] = vec_fma(weights, vec_all(1), sums[1]);
        sums[2] = vec_fma(vec_max_size(vec_zero(), weights), vec_all(1), sums[2]);
        store_weights(scan->weights, scan->stride, q, at, weights);
    }
    fold_four(sums, folded);
    scan->errors[q] = folded[0];
    scan->fine[q] = folded[2] < (float)(MIN_MEAN * scan->stride);
    if (scan->fine[q]) weigh_low(scan, inner_product, q, unit, per_unit);
    /* The sum is exact: a whole number below 2^24. */
    scan->starts[q] = -128 * (int32_t)folded[1];
    scan->slopes[q] = inner_product ? -unit : -2 * unit;
}

void WEIGH(const struct codes *scan) {
    for (int32_t q = 0; q < scan->query_count; q++) {
        if (scan->inner_product) {
            weigh(scan, 1, q);
        } else {
            weigh(scan, 0, q);
        }
    }
}
