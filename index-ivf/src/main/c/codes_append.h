/* Appends row by row, for instruction sets without a compress instruction. */
#ifndef ROOST_CODES_APPEND_H
#define ROOST_CODES_APPEND_H

#include "codes.h"

static inline void append_near(const struct codes *scan, int32_t query, int32_t first_row, const int32_t *sums,
                               const int32_t *low_sums) {
    const float *terms = scan->terms + first_row;
    const float *scales = scan->scales + first_row;
    const float base = scan->bases[query];
    const float slope = scan->slopes[query];
    const float bound = scan->bounds[query];
    int32_t left = scan->end - first_row < TILE ? scan->end - first_row : TILE;
    float scores[TILE], products[TILE];
    for (int i = 0; i < TILE; i++) products[i] = (float)sums[i];
    if (low_sums) {
        for (int i = 0; i < TILE; i++) products[i] += (float)low_sums[i] * LOW_UNIT;
    }
    int any = 0;
    for (int i = 0; i < TILE; i++) {
        scores[i] = base + (terms[i] + slope * (scales[i] * products[i]));
        any |= scores[i] <= bound;
    }
    if (!any) return;
    for (int i = 0; i < left; i++) {
        /* False for NaN, so deleted rows never get in. */
        if (scores[i] <= bound) {
            int64_t at = (int64_t)query * scan->room + scan->found[query]++;
            scan->rows[at] = first_row + i;
            scan->scores[at] = scores[i];
        }
    }
}

#endif
