/* The exported functions, which Java binds. */
#ifndef ROOST_IVF_H
#define ROOST_IVF_H

#include "codes.h"
#include "scan.h"

/* Whether this CPU and operating system can run the scan of an instruction set. */
int32_t roost_ivf_supports(int32_t isa);

/*
 * Scans rows. Here and below `isa` must be supported. The memory of rows is an argument of its own, so that Java keeps it open during
 * the call.
 */
void roost_ivf_scan(int32_t isa, const void *rows, const int64_t *ids, struct scan *scan);

/* Scans codes. The terms of whole tiles are followed by their scales. Without instructions for bytes, the next best set is used. */
void roost_ivf_scan_codes(int32_t isa, const uint8_t *codes, const float *terms, struct codes *scan);

/* Weighs the queries of a scan of codes against its center. */
void roost_ivf_weigh(int32_t isa, const struct codes *scan);

/* Compares picked rows with a query. */
void roost_ivf_compare(int32_t isa, const struct picks *picks);

/* As bound_avx512 and the others. */
float roost_ivf_bound(int32_t isa, const float *scores, int32_t size, float certain, int32_t wanted);

/* As keep_avx512 and the others. */
int32_t roost_ivf_keep(int32_t isa, float *scores, int64_t *places, int32_t size, float bound);

/* As order_avx512 and the others. */
int32_t roost_ivf_order(int32_t isa, const float *distances, int32_t count, int32_t wanted, int32_t *order);

#endif
