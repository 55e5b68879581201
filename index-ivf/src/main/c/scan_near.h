/* Compares pair by pair, for instruction sets that have no masks. */
#ifndef ROOST_SCAN_NEAR_H
#define ROOST_SCAN_NEAR_H

#include "scan.h"

static inline uint32_t near_pairs(const float *out, const float *bounds, const int queries) {
    uint32_t near = 0;
    for (int i = 0; i < queries * TILE_ROWS; i++) near |= (uint32_t)(out[i] <= bounds[i / TILE_ROWS]) << i;
    return near;
}

#endif
