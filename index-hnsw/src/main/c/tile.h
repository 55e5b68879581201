/* The tile of rows, and access to a node's record. */
#ifndef ROOST_TILE_H
#define ROOST_TILE_H

#include "search.h"

/* Rows measured together. */
#define TILE 4
#define CACHE_LINE 64
/* Max bytes of a row to prefetch: the hardware prefetcher fetches the rest once the beginning is read. */
#define MAX_PREFETCHED (16 * CACHE_LINE)

INLINE const uint8_t *record(const struct image *image, int64_t node) {
    return image->base + image->nodes_at + node * image->stride;
}

INLINE const int32_t *neighbors(const struct image *image, int64_t node) {
    return (const int32_t *)(record(image, node) + image->links_in);
}

INLINE void prefetch_bytes(const uint8_t *at, int64_t bytes) {
    if (bytes > MAX_PREFETCHED) bytes = MAX_PREFETCHED;
    for (int64_t line = 0; line < bytes; line += CACHE_LINE) __builtin_prefetch(at + line);
}

#endif
