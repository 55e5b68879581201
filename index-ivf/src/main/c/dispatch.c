/* The exported functions, and the one place that knows which instruction sets there are. */
#include "scan.h"

enum isa { PORTABLE, AVX2, AVX512, NEON };

/* Whether this CPU, under this operating system, runs the scan of an instruction set. */
int32_t roost_ivf_supports(int32_t isa) {
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

/* Arguments as in struct scan; `isa` must be supported. */
void roost_ivf_scan(int32_t isa, const float *rows, const int64_t *ids, int64_t count, int64_t stride,
                    int32_t inner_product, float bias, const float *queries, int32_t query_count,
                    const int32_t *capacities, int32_t *sizes, float *bounds, float *heap_distances,
                    int64_t *heap_ids, int64_t heap_stride) {
    const struct scan scan = {rows,       ids,   count,  stride,         inner_product, bias,       queries, query_count,
                              capacities, sizes, bounds, heap_distances, heap_ids,      heap_stride};
    switch (isa) {
#if defined(__x86_64__)
        case AVX2:
            scan_avx2(&scan);
            break;
        case AVX512:
            scan_avx512(&scan);
            break;
#elif defined(__aarch64__)
        case NEON:
            scan_neon(&scan);
            break;
#endif
        default:
            scan_portable(&scan);
    }
}
