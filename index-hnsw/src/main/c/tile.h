/* What rows are measured in, and where a node's record lies. */
#ifndef ROOST_TILE_H
#define ROOST_TILE_H

#include "walk.h"

#define INLINE static inline __attribute__((always_inline))
/* Rows that are measured together. */
#define TILE 4
#define CACHE_LINE 64
/* Of a long row the hardware fetches the rest once it sees the beginning being read. */
#define MOST_PREFETCHED (16 * CACHE_LINE)

INLINE const uint8_t *record(const struct image *image, int64_t node) {
    return (const uint8_t *)image + image->nodes_at + node * image->stride;
}

INLINE const int32_t *neighbors(const struct image *image, int64_t node) {
    return (const int32_t *)(record(image, node) + image->links_in);
}

INLINE void prefetch_bytes(const uint8_t *at, int64_t bytes) {
    if (bytes > MOST_PREFETCHED) bytes = MOST_PREFETCHED;
    for (int64_t line = 0; line < bytes; line += CACHE_LINE) __builtin_prefetch(at + line);
}

#endif
