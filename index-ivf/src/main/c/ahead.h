/* Asking memory for what a scan will read. */
#ifndef ROOST_AHEAD_H
#define ROOST_AHEAD_H

#include <stdint.h>

/* A page: the prefetchers of the hardware stop at its end, and find out anew what is read behind it. */
#define BYTES_AHEAD 4096

/*
 * Of memory that is read in order up to `end`: `bytes` from `at` on are read now, as many farther on are asked for.
 * Inlined in any case: to a compiler a call that only asks for memory does nothing, and may be left out.
 */
static inline __attribute__((always_inline)) void fetch_ahead(const void *memory, int64_t at, int64_t bytes,
                                                              int64_t end) {
    const char *from = (const char *)memory + at + BYTES_AHEAD;
    int64_t left = end - at - BYTES_AHEAD;
    if (left > bytes) left = bytes;
    for (int64_t line = 0; line < left; line += 64) __builtin_prefetch(from + line);
}

#endif
