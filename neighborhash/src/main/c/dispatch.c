/* The exported functions, and the choice of a kernel by instruction set. */
#include "isa.h"
#include "roost_table.h"

int32_t roost_table_supports(int32_t isa) { return (isa == PORTABLE || isa == AVX512) && cpu_has(isa); }

int64_t roost_table_find(int32_t isa, const void *slots, int32_t shift, int64_t seed, const int64_t *keys,
                         int64_t count, int64_t *payloads) {
    const struct table table = {slots, (uint64_t)seed, shift};
    switch (isa) {
#if defined(__x86_64__)
        case AVX512:
            return find_avx512(&table, keys, count, payloads);
#endif
        default:
            return find_portable(&table, keys, count, payloads);
    }
}
