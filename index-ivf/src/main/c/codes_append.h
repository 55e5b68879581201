/* Appends row by row, for instruction sets without a compress instruction. */
#ifndef ROOST_CODES_APPEND_H
#define ROOST_CODES_APPEND_H

#include "codes.h"

static inline void append_near(const struct codes *scan, int32_t query, int32_t first_row, const int32_t *sums) {
    const float *terms = scan->terms + first_row;
    const float slope = scan->slopes[query];
    const float bound = scan->bounds[query];
    int32_t left = scan->end - first_row < TILE ? scan->end - first_row : TILE;
    float scores[TILE];
    int any = 0;
    for (int i = 0; i < TILE; i++) {
        scores[i] = terms[i] + slope * (float)sums[i];
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
