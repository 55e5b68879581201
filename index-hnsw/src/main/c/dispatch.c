/* The exported functions, and the one place that knows which instruction sets there are. */
#include "walk.h"

#if defined(__aarch64__)
#include <sys/auxv.h>
#ifndef HWCAP_ASIMDDP
#define HWCAP_ASIMDDP (1 << 20)
#endif
#endif

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

/* The walk over floats; `isa` must be supported. */
static int32_t walk_floats(int32_t isa, const struct search *search) {
    switch (isa) {
#if defined(__x86_64__)
        case AVX2:
            return walk_avx2(search);
        case AVX512:
            return walk_avx512(search);
#elif defined(__aarch64__)
        case NEON:
            return walk_neon(search);
#endif
        default:
            return walk_portable(search);
    }
}

/* The walk over codes, with what this CPU has of an instruction set for whole numbers. */
static int32_t walk_codes(int32_t isa, const struct search *search) {
    switch (isa) {
#if defined(__x86_64__)
        case AVX2:
            return walk_codes_avx2(search);
        case AVX512:
            return __builtin_cpu_supports("avx512vnni") ? walk_codes_vnni(search) : walk_codes_avx2(search);
#elif defined(__aarch64__)
        case NEON:
            return getauxval(AT_HWCAP) & HWCAP_ASIMDDP ? walk_codes_dot(search) : walk_codes_neon(search);
#endif
        default:
            return walk_codes_portable(search);
    }
}

static int32_t rerank(int32_t isa, const struct search *search, int32_t size) {
    switch (isa) {
#if defined(__x86_64__)
        case AVX2:
            return rerank_avx2(search, size);
        case AVX512:
            return rerank_avx512(search, size);
#elif defined(__aarch64__)
        case NEON:
            return rerank_neon(search, size);
#endif
        default:
            return rerank_portable(search, size);
    }
}

/*
 * Arguments as in struct search; `isa` must be supported. Of what a walk over codes has found the first `most_reranked` are
 * measured again, and the rest is dropped; `weights` has room for
 * twice MOST_DIMENSIONS.
 */
int32_t roost_hnsw_walk(int32_t isa, const struct image *image, const float *query, int32_t inner_product,
                        int32_t width, int32_t most_reranked, const uint64_t *allowed, uint64_t *visited,
                        int64_t *candidates, int32_t *log, int64_t *found, int8_t *weights, int64_t *computed) {
    struct search search = {image,   query,      inner_product, width, allowed,
                            visited, candidates, log,           found, computed, 0, 0, 0, 0, 0};
    *computed = 0;
    if (!image->coded) return walk_floats(isa, &search);
    weigh(&search, weights);
    int32_t size = walk_codes(isa, &search);
    return rerank(isa, &search, size < most_reranked ? size : most_reranked);
}

/* Looks at the vectors of the nodes `from` to `to` exclusive. */
int32_t roost_hnsw_scan(int32_t isa, const struct image *image, const float *query, int32_t inner_product,
                        int32_t width, const uint64_t *allowed, int64_t from, int64_t to, int64_t *found,
                        int64_t *computed) {
    const struct search search = {image, query, inner_product, width, allowed, 0, 0, 0, found, computed, 0, 0, 0, 0, 0};
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
