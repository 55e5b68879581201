/* Prefetches the memory that a scan will read. */
#ifndef ROOST_AHEAD_H
#define ROOST_AHEAD_H

#include <stdint.h>

/* A page: hardware prefetchers stop at its end and must detect the pattern again in the next. */
#define BYTES_AHEAD 4096

/*
 * For memory that is read in order up to `end`: when `bytes` bytes at `at` are read, prefetches as many bytes BYTES_AHEAD later.
 * Always inlined: a compiler may drop a call that only prefetches, as it has no effect.
 */
static inline __attribute__((always_inline)) void fetch_ahead(const void *memory, int64_t at, int64_t bytes,
                                                              int64_t end) {
    const char *from = (const char *)memory + at + BYTES_AHEAD;
    int64_t left = end - at - BYTES_AHEAD;
    if (left > bytes) left = bytes;
    for (int64_t line = 0; line < left; line += 64) __builtin_prefetch(from + line);
}

#endif
