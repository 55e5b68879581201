/*
 * Looks up several keys at the same time, so that their cache misses overlap: asynchronous memory access chaining
 * (Kocberber, Falsafi, Grot, PVLDB 9(4), 2015). It uses only loads and prefetches, so it runs on every instruction set.
 */
#include <string.h>

#include "lookup.h"

/* The maximum number of keys in flight. 16 and 64 were slower by a sixth and by a tenth in 256 MiB. */
#define WINDOW 32
/* Tables of up to this many slots, 1 MiB, fit into a core's private cache. */
#define CACHED_SLOTS (UINT64_C(1) << 16)

/* A key in flight. */
struct probe {
    uint64_t key;
    uint64_t slot;
    int64_t index;
};

static inline uint64_t bucket(const struct table *table, uint64_t key) {
    uint64_t product = (key ^ table->seed) * FIRST;
    return ((product ^ product >> 32) * SECOND) >> table->shift;
}

static inline struct probe begin(const struct table *table, const int64_t *keys, int64_t index) {
    struct probe probe = {.index = index};
    memcpy(&probe.key, keys + index, sizeof probe.key);
    probe.slot = bucket(table, probe.key);
    __builtin_prefetch(&table->slots[probe.slot]);
    return probe;
}

/* Advances while the chain stays on its cache line. Returns whether the lookup has ended; if so, sets its payload. */
static inline int ends(const struct table *table, struct probe *probe, uint64_t *payload) {
    const uint64_t mask = UINT64_MAX >> table->shift;
    uint64_t slot = probe->slot;
    for (;;) {
        const uint64_t key = __atomic_load_n(&table->slots[slot].key, __ATOMIC_ACQUIRE);
        const uint64_t word = __atomic_load_n(&table->slots[slot].word, __ATOMIC_ACQUIRE);
        if (key == probe->key) {
            const uint64_t found = word & PAYLOAD_BITS;
            *payload = found == REMOVED ? ABSENT : found;
            return 1;
        }
        if ((word & NEXT_BITS) == 0) {
            *payload = ABSENT;
            return 1;
        }
        const uint64_t next = (slot + (word >> STEP_SHIFT) - STEP_BIAS) & mask;
        if (next / LINE_SLOTS != slot / LINE_SLOTS) {
            __builtin_prefetch(&table->slots[next]);
            probe->slot = next;
            return 0;
        }
        slot = next;
    }
}

/* The payload of a key in a chain, from a slot on. */
static inline uint64_t payload_from(const struct slot *slots, uint64_t mask, uint64_t slot, uint64_t key) {
    for (;;) {
        const uint64_t there = __atomic_load_n(&slots[slot].key, __ATOMIC_ACQUIRE);
        const uint64_t word = __atomic_load_n(&slots[slot].word, __ATOMIC_ACQUIRE);
        if (there == key) return word & PAYLOAD_BITS;
        if ((word & NEXT_BITS) == 0) return ABSENT;
        slot = (slot + (word >> STEP_SHIFT) - STEP_BIAS) & mask;
    }
}

/*
 * In a core's private cache the cost is mispredicted branches, as the position of a key in its chain is unpredictable. So the first
 * two slots of a chain are compared by arithmetic, and for one key in ten the chain is followed from its first slot.
 */
static int64_t find_cached(const struct table *table, const int64_t *keys, int64_t count, int64_t *payloads) {
    const struct table here = *table;
    const struct slot *slots = here.slots;
    const uint64_t mask = UINT64_MAX >> here.shift;
    int64_t absent = 0;
    for (int64_t i = 0; i < count; i++) {
        uint64_t key;
        memcpy(&key, keys + i, sizeof key);
        const uint64_t first = bucket(&here, key);
        const uint64_t first_key = __atomic_load_n(&slots[first].key, __ATOMIC_ACQUIRE);
        const uint64_t first_word = __atomic_load_n(&slots[first].word, __ATOMIC_ACQUIRE);
        /* Without a next slot this is an arbitrary slot. It must not be compared: if it is free, it seems to have key 0. */
        const uint64_t second = (first + (first_word >> STEP_SHIFT) - STEP_BIAS) & mask;
        const uint64_t second_key = __atomic_load_n(&slots[second].key, __ATOMIC_ACQUIRE);
        const uint64_t second_word = __atomic_load_n(&slots[second].word, __ATOMIC_ACQUIRE);
        const uint64_t is_first = -(uint64_t)(first_key == key);
        const uint64_t has_second = -(uint64_t)((first_word & NEXT_BITS) != 0);
        const uint64_t is_there = is_first | (has_second & -(uint64_t)(second_key == key));
        uint64_t payload = ((second_word ^ ((first_word ^ second_word) & is_first)) & PAYLOAD_BITS) | ~is_there;
        if (__builtin_expect((second_word & NEXT_BITS & ~is_there) != 0, 0)) {
            payload = payload_from(slots, mask, first, key);
        }
        if (__builtin_expect(payload == REMOVED, 0)) payload = ABSENT;
        memcpy(payloads + i, &payload, sizeof payload);
        absent += (int64_t)payload >> 63;
    }
    return count + absent;
}

int64_t find_portable(const struct table *table, const int64_t *keys, int64_t count, int64_t *payloads) {
    if (UINT64_MAX >> table->shift < CACHED_SLOTS) return find_cached(table, keys, count, payloads);
    struct probe probes[WINDOW];
    int64_t begun = 0;
    int64_t found = 0;
    int32_t under_way = 0;
    while (under_way < WINDOW && begun < count) probes[under_way++] = begin(table, keys, begun++);
    while (under_way > 0) {
        for (int32_t i = 0; i < under_way;) {
            uint64_t payload;
            if (!ends(table, &probes[i], &payload)) {
                i++;
                continue;
            }
            memcpy(payloads + probes[i].index, &payload, sizeof payload);
            found += payload != ABSENT;
            if (begun < count) {
                probes[i++] = begin(table, keys, begun++);
            } else {
                probes[i] = probes[--under_way];
            }
        }
    }
    return found;
}
