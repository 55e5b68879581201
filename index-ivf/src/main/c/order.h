/* Orders the nearest rows. */
#ifndef ROOST_ORDER_H
#define ROOST_ORDER_H

#include <math.h>
#include <string.h>

#include "reservoir.h"
#include "scan.h"

/* Writes per distance the number of smaller distances. The arrays are padded to whole registers. */
static inline void rank(const float *distances, int32_t count, int32_t *ranks) {
    const int32_t padded = (count + LANES - 1) / LANES * LANES;
    memset(ranks, 0, (size_t)padded * sizeof *ranks);
    /* No branches and no moves: faster than sorting for up to a few hundred distances. */
    for (int32_t j = 0; j < padded; j += 4) {
        const float a = distances[j], b = distances[j + 1], c = distances[j + 2], d = distances[j + 3];
        for (int32_t i = 0; i < padded; i++) {
            ranks[i] += (a < distances[i]) + (b < distances[i]) + (c < distances[i]) + (d < distances[i]);
        }
    }
}

/* Arguments as order_avx512. */
static inline int32_t order_rows(const float *distances, int32_t count, int32_t wanted, int32_t *order) {
    float near[MAX_ORDERED + LANES] __attribute__((aligned(64)));
    int32_t rows[MAX_ORDERED + LANES], ranks[MAX_ORDERED + LANES] __attribute__((aligned(64)));
    int32_t same[MAX_ORDERED];
    int32_t within = count;
    const float bound = wanted < count ? bound_within(distances, count, wanted, wanted, &within) : INFINITY;
    if (within > MAX_ORDERED) return -1;
    int32_t kept = 0;
    for (int32_t i = 0; i < count; i++) {
        near[kept] = distances[i];
        rows[kept] = i;
        kept += distances[i] <= bound;
    }
    for (int32_t i = kept; i % LANES != 0; i++) near[i] = INFINITY;
    rank(near, kept, ranks);
    memset(same, 0, (size_t)kept * sizeof *same);
    for (int32_t i = 0; i < kept; i++) order[ranks[i] + same[ranks[i]]++] = rows[i];
    return kept;
}

#endif
