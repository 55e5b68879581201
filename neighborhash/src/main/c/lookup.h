/* The interface between the dispatcher and the lookups, one per instruction set, and the layout of a table. */
#ifndef ROOST_LOOKUP_H
#define ROOST_LOOKUP_H

#include <stdint.h>

/* As in Slots.java, which explains them. */
#define LINE_SLOTS 4
#define STEP_SHIFT 52
#define STEP_BIAS 2048
#define PAYLOAD_BITS ((UINT64_C(1) << STEP_SHIFT) - 1)
#define NEXT_BITS ((uint64_t)(STEP_BIAS - 1) << STEP_SHIFT)
#define REMOVED PAYLOAD_BITS
#define ABSENT UINT64_MAX
/* As in KeyHash.java. */
#define FIRST UINT64_C(0x9E3779B97F4A7C15)
#define SECOND UINT64_C(0xD6E8FEB86659FD93)

/* A writer writes the word first, so a reader reads the key first. */
struct slot {
    uint64_t key;
    uint64_t word;
};

/* 2^(64 - shift) slots, aligned to a cache line. */
struct table {
    const struct slot *slots;
    uint64_t seed;
    int32_t shift;
};

/*
 * Each finds the payloads of `count` keys, ABSENT for absent keys, and returns the number of keys present. Keys and payloads
 * need not be aligned; they must not overlap.
 */
int64_t find_portable(const struct table *table, const int64_t *keys, int64_t count, int64_t *payloads);
int64_t find_avx512(const struct table *table, const int64_t *keys, int64_t count, int64_t *payloads);

#endif
