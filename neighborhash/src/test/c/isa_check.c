/*
 * Every instruction set of this CPU, the portable one included, must find the payloads that were put into a table. All memory is
 * allocated in its exact size, so that a sanitizer detects reads and writes beyond it. Prints the comparisons; exits with 1 at the
 * first difference.
 */
#include "check.h"
#include "roost_table.h"

enum { MAX_BITS = 17, MAX_STEP = 1500 };

struct known {
    uint64_t key;
    uint64_t payload;
};

static uint64_t bucket(uint64_t key, uint64_t seed, int32_t shift) {
    const uint64_t product = (key ^ seed) * FIRST;
    return ((product ^ product >> 32) * SECOND) >> shift;
}

static int is_free(const struct slot *slot) { return slot->word == 0; }

static uint64_t last_word(uint64_t payload) { return (uint64_t)STEP_BIAS << STEP_SHIFT | payload; }

/* Puts a key into its own slot, or into a free slot near the end of that slot's chain. Returns whether there was one. */
static int put(struct slot *slots, int32_t shift, uint64_t seed, uint64_t key, uint64_t payload) {
    const uint64_t mask = UINT64_MAX >> shift;
    uint64_t slot = bucket(key, seed, shift);
    if (is_free(&slots[slot])) {
        slots[slot].key = key;
        slots[slot].word = last_word(payload);
        return 1;
    }
    if (bucket(slots[slot].key, seed, shift) != slot) return 0; /* A lodger's slot; lodgers are not relocated here. */
    while ((slots[slot].word & NEXT_BITS) != 0) {
        if (slots[slot].key == key) return 0;
        slot = (slot + (slots[slot].word >> STEP_SHIFT) - STEP_BIAS) & mask;
    }
    if (slots[slot].key == key) return 0;
    for (int64_t i = 1; i < MAX_STEP && (uint64_t)i <= mask / 2; i++) {
        const int64_t step = i % 2 == 0 ? i / 2 : -(i / 2) - 1;
        struct slot *into = &slots[(slot + (uint64_t)step) & mask];
        if (is_free(into)) {
            into->key = key;
            into->word = last_word(payload);
            slots[slot].word = (uint64_t)(STEP_BIAS + step) << STEP_SHIFT | (slots[slot].word & PAYLOAD_BITS);
            return 1;
        }
    }
    return 0;
}

static void check(int32_t isa, int round) {
    const int32_t bits = round % 2 == 0 ? MAX_BITS : 3 + (int32_t)below(MAX_BITS - 2), shift = 64 - bits;
    const uint64_t count = UINT64_C(1) << bits, seed = next();
    struct slot *slots = room(sizeof(struct slot) * count);
    struct known *all = room(sizeof(struct known) * count);
    int64_t size = 0;
    for (uint64_t i = 0; i < count * 79 / 100; i++) {
        const uint64_t key = next();
        const uint64_t payload = next() % 8 == 0 ? REMOVED : next() % REMOVED;
        if (put(slots, shift, seed, key, payload)) {
            all[size].key = key;
            all[size++].payload = payload == REMOVED ? ABSENT : payload;
        }
    }
    /* A free slot must not contain a key whose own slot it is. */
    for (uint64_t slot = 0; slot < count; slot++) {
        while (is_free(&slots[slot]) && bucket(slots[slot].key, seed, shift) == slot) slots[slot].key = next();
    }
    const int64_t wanted = round % 4 == 0 ? below(40) : below((int64_t)count * 2);
    int64_t *keys = room(8 * (size_t)wanted);
    int64_t *expected = room(8 * (size_t)wanted);
    int64_t *payloads = room(8 * (size_t)wanted);
    int64_t there = 0;
    for (int64_t i = 0; i < wanted; i++) {
        const int64_t place = below(size + size / 4 + 1);
        keys[i] = (int64_t)(place < size ? all[place].key : next());
        expected[i] = place < size ? (int64_t)all[place].payload : -1;
        there += expected[i] != -1;
    }
    const int64_t found = roost_table_find(isa, slots, shift, (int64_t)seed, keys, wanted, payloads);
    if (found != there || memcmp(expected, payloads, 8 * (size_t)wanted) != 0) {
        printf("%s differs from the payloads that were put, round %d\n", NAMES[isa], round);
        exit(1);
    }
    free(slots);
    free(all);
    free(keys);
    free(expected);
    free(payloads);
}

int main(int count, char **arguments) {
    const int rounds = rounds_of(count, arguments);
    for (int32_t isa = PORTABLE; isa <= LAST_ISA; isa++) {
        if (!roost_table_supports(isa)) continue;
        for (int round = 0; round < rounds; round++) check(isa, round);
        printf("%s as portable: %d rounds\n", NAMES[isa], rounds);
    }
    return 0;
}
