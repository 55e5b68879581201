/* The exported functions and the choice of a kernel for each. */
#include "isa.h"
#include "roost_ivf.h"

int32_t roost_ivf_supports(int32_t isa) { return cpu_has(isa); }

void roost_ivf_scan(int32_t isa, const void *rows, const int64_t *ids, struct scan *scan) {
    scan->rows = rows;
    scan->ids = ids;
    CALL(isa, scan, scan);
}

void roost_ivf_scan_codes(int32_t isa, const uint8_t *codes, const float *terms, struct codes *scan) {
    scan->codes = codes;
    scan->terms = terms;
    scan->scales = terms + (scan->count + TILE - 1) / TILE * TILE;
    CALL_BYTES(isa, codes, scan);
}

void roost_ivf_weigh(int32_t isa, const struct codes *scan) { CALL(isa, weigh, scan); }

void roost_ivf_compare(int32_t isa, const struct picks *picks) { CALL(isa, picks, picks); }

float roost_ivf_bound(int32_t isa, const float *scores, int32_t size, float certain, int32_t wanted) {
    return CALL(isa, bound, scores, size, certain, wanted);
}

int32_t roost_ivf_keep(int32_t isa, float *scores, int64_t *places, int32_t size, float bound) {
    return CALL(isa, keep, scores, places, size, bound);
}

int32_t roost_ivf_order(int32_t isa, const float *distances, int32_t count, int32_t wanted, int32_t *order) {
    return CALL(isa, order, distances, count, wanted, order);
}
