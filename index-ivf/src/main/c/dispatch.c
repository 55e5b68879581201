/* Picks the kernel for the processor it runs on. */
#include "scan.h"

enum { PORTABLE = 0, NEON = 1, AVX2 = 2, AVX512 = 3 };

static roost_scan_function kernel(int isa) {
    switch (isa) {
        case PORTABLE:
            return roost_scan_portable;
#if defined(__x86_64__)
        case AVX2:
            return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? roost_scan_avx2 : 0;
        case AVX512:
            return __builtin_cpu_supports("avx512f") ? roost_scan_avx512 : 0;
#elif defined(__aarch64__)
        case NEON:
            return roost_scan_neon;
#endif
        default:
            return 0;
    }
}

/* Whether this processor can run a kernel. */
int roost_supports(int isa) {
    return kernel(isa) != 0;
}

/* Scans with the kernel asked for, which this processor must support. */
void roost_scan(int isa, int metric, const float *queries, int query_count, int dimension, const float *rows,
                const int64_t *ids, int64_t row_count, int k, float *heap_distances, int64_t *heap_ids,
                int32_t *heap_sizes) {
    struct roost_scan scan = {metric, queries, query_count,    dimension, rows,      ids,
                              row_count, k,    heap_distances, heap_ids,  heap_sizes};
    kernel(isa)(&scan);
}
