/*
 * What the modules' programs isa_check.c share: the names of instruction sets, random numbers, the number of rounds, and memory of an exact
 * size, so that a sanitizer detects reads and writes beyond it.
 */
#ifndef ROOST_CHECK_H
#define ROOST_CHECK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa.h"

enum { LAST_ISA = NEON };
static const char *const NAMES[] = {"portable", "avx2", "avx512", "neon"};

static uint64_t state = 88172645463325252u;

static inline uint64_t next(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static inline int64_t below(int64_t end) { return (int64_t)(next() % (uint64_t)end); }

/* Few values, so that there are ties. */
static inline float number(void) { return (float)(below(64) - 32) / 8; }

/* The program's argument. */
static inline int rounds_of(int count, char **arguments) {
    const int rounds = count == 2 ? atoi(arguments[1]) : 0;
    if (rounds < 1) {
        printf("give the number of rounds, at least 1\n");
        exit(2);
    }
    return rounds;
}

static inline void *room(size_t bytes) {
    void *memory = 0;
    if (posix_memalign(&memory, 64, bytes == 0 ? 1 : bytes) != 0) abort();
    memset(memory, 0, bytes);
    return memory;
}

#endif
