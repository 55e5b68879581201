/* The exported functions and the choice of a kernel for each. */
#include "isa.h"
#include "roost_ivf.h"

int32_t roost_ivf_supports(int32_t isa) { return cpu_has(isa); }

void roost_ivf_scan(int32_t isa, const void *rows, int32_t float16, const int64_t *ids, int64_t count, int64_t stride,
                    int32_t inner_product, float bias, const float *queries, int32_t query_count, const int32_t *wanted,
                    int32_t *sizes, float *bounds, float *found_distances, int64_t *found_ids, int64_t room) {
    const struct scan scan = {rows,        float16, ids,   count,  stride,          inner_product, bias, queries,
                              query_count, wanted,  sizes, bounds, found_distances, found_ids,     room};
    CALL(isa, scan, &scan);
}

void roost_ivf_scan_codes(int32_t isa, const uint8_t *codes, const float *terms, int32_t first, int32_t end,
                          int32_t count, int32_t stride, int32_t query_count, const int8_t *weights,
                          const int32_t *starts, const float *slopes, const float *bounds, int32_t room, int32_t *found,
                          int32_t *rows, float *scores) {
    const struct codes scan = {codes,  terms,  first,  end,  count, stride, query_count, weights,
                               starts, slopes, bounds, room, found, rows,   scores};
    CALL_BYTES(isa, codes, &scan);
}

void roost_ivf_compare(int32_t isa, const float *const *rows, const int64_t *const *row_ids, int64_t count,
                       int64_t stride, int32_t inner_product, float bias, const float *query, float *distances,
                       int64_t *ids) {
    const struct picks picks = {rows, row_ids, count, stride, inner_product, bias, query, distances, ids};
    CALL(isa, picks, &picks);
}

float roost_ivf_bound(int32_t isa, const float *scores, int32_t size, float certain, int32_t wanted) {
    return CALL(isa, bound, scores, size, certain, wanted);
}

int32_t roost_ivf_keep(int32_t isa, float *scores, int64_t *places, int32_t size, float bound) {
    return CALL(isa, keep, scores, places, size, bound);
}

int32_t roost_ivf_order(int32_t isa, const float *distances, int32_t count, int32_t wanted, int32_t *order) {
    return CALL(isa, order, distances, count, wanted, order);
}
