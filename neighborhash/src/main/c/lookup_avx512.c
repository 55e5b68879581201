/*
 * Looks up eight keys at a time with gathers, and overlaps cache misses. A block of keys is hashed and its slots are
 * prefetched; meanwhile the previous block is compared. Keys that are not in the first slot of their chain wait in a queue for
 * the next block's turn, so that their next slots are prefetched, too, and they fill whole registers again: interleaved
 * multi-vectorizing (Fang, Zheng, Weng, PVLDB 13(3), 2019). No branch depends on a comparison of keys; if a table is in the
 * cache, the portable lookup spends most of its time on one mispredicted branch per key.
 */
#include <immintrin.h>

#include "lookup.h"

#define LANES 8
/* Keys per block. With 64 a large table is a fifth slower, with 16 a small one is. */
#define BLOCK 32
/* The maximum of keys that remain of a block and of the previous queue, and the unused lanes of the last register stored. */
#define ROOM (2 * BLOCK + LANES)

/* Keys whose chains go on: the next slot of each, and the index of its payload. */
struct queue {
    uint64_t keys[ROOM] __attribute__((aligned(64)));
    uint64_t slots[ROOM] __attribute__((aligned(64)));
    int64_t places[ROOM] __attribute__((aligned(64)));
    int64_t size;
};

struct found {
    __m512i payloads;
    /* The next slots of keys whose chains go on. */
    __m512i next;
    __mmask8 goes_on;
    __mmask8 is_there;
};

static inline __mmask8 first_lanes(int64_t count) { return count >= LANES ? 0xff : (__mmask8)((1u << count) - 1); }

static inline __m512i buckets(const struct table *table, __m512i keys) {
    __m512i product = _mm512_mullo_epi64(_mm512_xor_si512(keys, _mm512_set1_epi64((int64_t)table->seed)),
                                         _mm512_set1_epi64((int64_t)FIRST));
    product = _mm512_mullo_epi64(_mm512_xor_si512(product, _mm512_srli_epi64(product, 32)),
                                 _mm512_set1_epi64((int64_t)SECOND));
    return _mm512_srl_epi64(product, _mm_cvtsi32_si128(table->shift));
}

/* Compares keys with their current slots. */
static inline struct found compare(const struct table *table, __mmask8 lanes, __m512i keys, __m512i slots) {
    const __m512i mask = _mm512_set1_epi64((int64_t)(UINT64_MAX >> table->shift));
    const __m512i payload_bits = _mm512_set1_epi64((int64_t)PAYLOAD_BITS);
    const __m512i none = _mm512_set1_epi64((int64_t)ABSENT);
    const __m512i halves = _mm512_slli_epi64(slots, 1);
    const __m512i there = _mm512_mask_i64gather_epi64(none, lanes, halves, &table->slots->key, 8);
    /* x86 keeps the order of loads, gathers included, if the compiler does. */
    __asm__ volatile("" ::: "memory");
    const __m512i words = _mm512_mask_i64gather_epi64(none, lanes, halves, &table->slots->word, 8);
    const __mmask8 same = _mm512_mask_cmpeq_epi64_mask(lanes, there, keys);
    const __m512i payloads = _mm512_and_si512(words, payload_bits);
    const __m512i steps = _mm512_sub_epi64(_mm512_srli_epi64(words, STEP_SHIFT), _mm512_set1_epi64(STEP_BIAS));
    struct found found;
    found.is_there = _mm512_mask_cmpneq_epi64_mask(same, payloads, _mm512_set1_epi64((int64_t)REMOVED));
    found.payloads = _mm512_mask_mov_epi64(none, found.is_there, payloads);
    found.goes_on = _mm512_mask_test_epi64_mask(lanes & (__mmask8)~same, words, _mm512_set1_epi64((int64_t)NEXT_BITS));
    found.next = _mm512_and_si512(_mm512_add_epi64(slots, steps), mask);
    return found;
}

/* Stores whole registers: a compress into memory is slow on some CPUs. */
static inline void add(struct queue *queue, struct found found, __m512i keys, __m512i places) {
    _mm512_storeu_si512(queue->keys + queue->size, _mm512_maskz_compress_epi64(found.goes_on, keys));
    _mm512_storeu_si512(queue->slots + queue->size, _mm512_maskz_compress_epi64(found.goes_on, found.next));
    _mm512_storeu_si512(queue->places + queue->size, _mm512_maskz_compress_epi64(found.goes_on, places));
    queue->size += __builtin_popcount(found.goes_on);
}

/*
 * Hashes a block of keys, and prefetches its slots into the L2 cache. A prefetch into L1, which has few line fill buffers that
 * stay occupied until the line arrives, was a tenth slower in 256 MiB.
 */
static inline void begin(const struct table *table, const int64_t *keys, int64_t count, uint64_t *slots) {
    for (int64_t i = 0; i < count; i += LANES) {
        _mm512_store_si512(slots + i, buckets(table, _mm512_maskz_loadu_epi64(first_lanes(count - i), keys + i)));
        for (int64_t lane = 0; lane < LANES; lane++) __builtin_prefetch(&table->slots[slots[i + lane]], 0, 2);
    }
}

/* Compares a block of keys, the first at index `place`, with the first slots of their chains. Returns how many are present. */
static inline int64_t compare_block(const struct table *table, const int64_t *keys, int64_t count,
                                    const uint64_t *slots, int64_t place, int64_t *payloads, struct queue *later) {
    const __m512i numbers = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    int64_t there = 0;
    for (int64_t i = 0; i < count; i += LANES) {
        const __mmask8 lanes = first_lanes(count - i);
        const __m512i wanted = _mm512_maskz_loadu_epi64(lanes, keys + i);
        const struct found found = compare(table, lanes, wanted, _mm512_load_si512(slots + i));
        _mm512_mask_storeu_epi64(payloads + i, lanes, found.payloads);
        there += __builtin_popcount(found.is_there);
        add(later, found, wanted, _mm512_add_epi64(numbers, _mm512_set1_epi64(place + i)));
    }
    return there;
}

/* Advances every key of a queue by one slot. Returns how many are found. */
static inline int64_t compare_queue(const struct table *table, const struct queue *now, int64_t *payloads,
                                    struct queue *later) {
    int64_t there = 0;
    for (int64_t i = 0; i < now->size; i += LANES) {
        const __mmask8 lanes = first_lanes(now->size - i);
        const __m512i wanted = _mm512_load_si512(now->keys + i);
        const __m512i places = _mm512_load_si512(now->places + i);
        const struct found found = compare(table, lanes, wanted, _mm512_load_si512(now->slots + i));
        _mm512_mask_i64scatter_epi64(payloads, lanes, places, found.payloads, 8);
        there += __builtin_popcount(found.is_there);
        add(later, found, wanted, places);
    }
    return there;
}

static inline int64_t at_most_a_block(int64_t count) { return count < BLOCK ? count : BLOCK; }

int64_t find_avx512(const struct table *table, const int64_t *keys, int64_t count, int64_t *payloads) {
    uint64_t slots[2][BLOCK] __attribute__((aligned(64)));
    struct queue queues[2];
    struct queue *now = &queues[0];
    struct queue *later = &queues[1];
    now->size = 0;
    int64_t there = 0;
    int32_t turn = 0;
    begin(table, keys, at_most_a_block(count), slots[0]);
    for (int64_t place = 0; place < count || now->size > 0; place += BLOCK, turn ^= 1) {
        later->size = 0;
        if (place + BLOCK < count) {
            begin(table, keys + place + BLOCK, at_most_a_block(count - place - BLOCK), slots[turn ^ 1]);
        }
        if (place < count) {
            there += compare_block(table, keys + place, at_most_a_block(count - place), slots[turn], place,
                                   payloads + place, later);
        }
        there += compare_queue(table, now, payloads, later);
        /* Repeated keys with long chains must not overflow the queue, which has room for two blocks. */
        while (later->size > BLOCK) {
            now->size = 0;
            there += compare_queue(table, later, payloads, now);
            struct queue *const swapped = now;
            now = later;
            later = swapped;
        }
        struct queue *const swapped = now;
        now = later;
        later = swapped;
        for (int64_t i = 0; i < now->size; i++) __builtin_prefetch(&table->slots[now->slots[i]]);
    }
    return there;
}
