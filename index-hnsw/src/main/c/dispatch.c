/* The exported functions, and the one place that knows which instruction sets there are. */
#include "walk.h"

enum isa { PORTABLE, AVX2, AVX512, NEON };

/* Whether this CPU, under this operating system, runs the walk of an instruction set. */
int32_t roost_hnsw_supports(int32_t isa) {
    switch (isa) {
        case PORTABLE:
            return 1;
#if defined(__x86_64__)
        case AVX2:
            return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
        case AVX512:
            return __builtin_cpu_supports("avx512f");
#elif defined(__aarch64__)
        case NEON:
            return 1;
#endif
        default:
            return 0;
    }
}

/* Arguments as in struct search; `isa` must be supported. */
int32_t roost_hnsw_walk(int32_t isa, const struct image *image, const float *query, int32_t inner_product,
                        int32_t width, const uint64_t *allowed, uint64_t *visited, int64_t *candidates, int32_t *log,
                        int64_t *found, int64_t *computed) {
    const struct search search = {image,   query,      inner_product, width, allowed,
                                  visited, candidates, log,           found, computed};
    *computed = 0;
    switch (isa) {
#if defined(__x86_64__)
        case AVX2:
            return walk_avx2(&search);
        case AVX512:
            return walk_avx512(&search);
#elif defined(__aarch64__)
        case NEON:
            return walk_neon(&search);
#endif
        default:
            return walk_portable(&search);
    }
}

/* As above, over the nodes `from` to `to` exclusive. */
int32_t roost_hnsw_scan(int32_t isa, const struct image *image, const float *query, int32_t inner_product,
                        int32_t width, const uint64_t *allowed, int64_t from, int64_t to, int64_t *found,
                        int64_t *computed) {
    const struct search search = {image, query, inner_product, width, allowed, 0, 0, 0, found, computed};
    *computed = 0;
    switch (isa) {
#if defined(__x86_64__)
        case AVX2:
            return scan_avx2(&search, from, to);
        case AVX512:
            return scan_avx512(&search, from, to);
#elif defined(__aarch64__)
        case NEON:
            return scan_neon(&search, from, to);
#endif
        default:
            return scan_portable(&search, from, to);
    }
}
