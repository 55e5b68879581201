/* Folds and comparisons for instruction sets without masks. The source includes the vec of its instruction set first. */
#ifndef ROOST_SCAN_NEAR_H
#define ROOST_SCAN_NEAR_H

#include "scan.h"

INLINE void fold(const vec *sums, const int count, float *out) {
#pragma GCC unroll 4
    for (int i = 0; i < count; i += 4) fold_four(sums + i, out + i);
}

static inline uint32_t near_pairs(const float *out, const float *bounds, const int queries) {
    uint32_t near = 0;
    for (int i = 0; i < queries * TILE_ROWS; i++) near |= (uint32_t)(out[i] <= bounds[i / TILE_ROWS]) << i;
    return near;
}

static inline int32_t keep_up_to(float *distances, int64_t *ids, int32_t size, float bound, int64_t last_id) {
    int32_t kept = 0;
    for (int32_t i = 0; i < size; i++) {
        const float distance = distances[i];
        const int64_t id = ids[i];
        /* Stored unconditionally and overwritten if not kept: a branch would often be mispredicted. */
        distances[kept] = distance;
        ids[kept] = id;
        kept += (distance < bound) | ((distance == bound) & (id <= last_id));
    }
    return kept;
}

#endif
