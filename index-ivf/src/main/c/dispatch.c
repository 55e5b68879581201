/* The exported functions and the choice of a kernel for each. */
#include "isa.h"
#include "roost_ivf.h"

int32_t roost_ivf_supports(int32_t isa) { return cpu_has(isa); }

void roost_ivf_scan(int32_t isa, const void *rows, int32_t float16, const int64_t *ids, int64_t count, int64_t stride,
                    int32_t inner_product, float bias, const float *queries, int32_t query_count, const int32_t *wanted,
                    int32_t *sizes, float *bounds, float *found_distances, int64_t *found_ids, int64_t room) {
    const struct scan scan = {rows,        float16, ids,   count,  stride,          inner_product, bias, queries,
                              query_count, wanted,  sizes, bounds, found_distances, found_ids,     room};
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

void roost_ivf_scan_codes(int32_t isa, const uint8_t *codes, const float *terms, int32_t first, int32_t end,
                          int32_t count, int32_t stride, int32_t query_count, const int8_t *weights,
                          const int32_t *starts, const float *slopes, const float *bounds, int32_t room, int32_t *found,
                          int32_t *rows, float *scores) {
    const struct codes scan = {codes,  terms,  first,  end,  count, stride, query_count, weights,
                               starts, slopes, bounds, room, found, rows,   scores};
    switch (isa) {
#if defined(__x86_64__)
        case AVX512:
            if (cpu_multiplies_bytes()) {
                codes_vnni(&scan);
            } else {
                codes_avx2(&scan);
            }
            break;
        case AVX2:
            codes_avx2(&scan);
            break;
#elif defined(__aarch64__)
        case NEON:
            if (cpu_multiplies_bytes()) {
                codes_dot(&scan);
            } else {
                codes_neon(&scan);
            }
            break;
#endif
        default:
            codes_portable(&scan);
    }
}

void roost_ivf_compare(int32_t isa, const float *const *rows, const int64_t *const *row_ids, int64_t count,
                       int64_t stride, int32_t inner_product, float bias, const float *query, float *distances,
                       int64_t *ids) {
    const struct picks picks = {rows, row_ids, count, stride, inner_product, bias, query, distances, ids};
    switch (isa) {
#if defined(__x86_64__)
        case AVX2:
            picks_avx2(&picks);
            break;
        case AVX512:
            picks_avx512(&picks);
            break;
#elif defined(__aarch64__)
        case NEON:
            picks_neon(&picks);
            break;
#endif
        default:
            picks_portable(&picks);
    }
}

float roost_ivf_bound(int32_t isa, const float *scores, int32_t size, float certain, int32_t wanted) {
    switch (isa) {
#if defined(__x86_64__)
        case AVX2:
            return bound_avx2(scores, size, certain, wanted);
        case AVX512:
            return bound_avx512(scores, size, certain, wanted);
#elif defined(__aarch64__)
        case NEON:
            return bound_neon(scores, size, certain, wanted);
#endif
        default:
            return bound_portable(scores, size, certain, wanted);
    }
}

int32_t roost_ivf_keep(int32_t isa, float *scores, int64_t *places, int32_t size, float bound) {
    switch (isa) {
#if defined(__x86_64__)
        case AVX2:
            return keep_avx2(scores, places, size, bound);
        case AVX512:
            return keep_avx512(scores, places, size, bound);
#elif defined(__aarch64__)
        case NEON:
            return keep_neon(scores, places, size, bound);
#endif
        default:
            return keep_portable(scores, places, size, bound);
    }
}

int32_t roost_ivf_order(int32_t isa, const float *distances, int32_t count, int32_t wanted, int32_t *order) {
    switch (isa) {
#if defined(__x86_64__)
        case AVX2:
            return order_avx2(distances, count, wanted, order);
        case AVX512:
            return order_avx512(distances, count, wanted, order);
#elif defined(__aarch64__)
        case NEON:
            return order_neon(distances, count, wanted, order);
#endif
        default:
            return order_portable(distances, count, wanted, order);
    }
}
