/* The exported functions, which Java binds. */
#ifndef ROOST_IVF_H
#define ROOST_IVF_H

#include "codes.h"
#include "scan.h"

/* Whether this CPU and operating system can run the scan of an instruction set. */
int32_t roost_ivf_supports(int32_t isa);

/* Arguments as in struct scan; `isa` must be supported. */
void roost_ivf_scan(int32_t isa, const void *rows, int32_t float16, const int64_t *ids, int64_t count, int64_t stride,
                    int32_t inner_product, float bias, const float *queries, int32_t query_count, const int32_t *wanted,
                    int32_t *sizes, float *bounds, float *found_distances, int64_t *found_ids, int64_t room);

/* Arguments as in struct codes; `isa` must be supported. Without instructions for bytes, the next best set is used. */
void roost_ivf_scan_codes(int32_t isa, const uint8_t *codes, const float *terms, int32_t first, int32_t end,
                          int32_t count, int32_t stride, int32_t query_count, const int8_t *weights,
                          const int32_t *starts, const float *slopes, const float *bounds, int32_t room, int32_t *found,
                          int32_t *rows, float *scores);

/* Arguments as in struct picks; `isa` must be supported. */
void roost_ivf_compare(int32_t isa, const float *const *rows, const int64_t *const *row_ids, int64_t count,
                       int64_t stride, int32_t inner_product, float bias, const float *query, float *distances,
                       int64_t *ids);

/* As bound_avx512 and the others; `isa` must be supported. */
float roost_ivf_bound(int32_t isa, const float *scores, int32_t size, float certain, int32_t wanted);

/* As keep_avx512 and the others; `isa` must be supported. */
int32_t roost_ivf_keep(int32_t isa, float *scores, int64_t *places, int32_t size, float bound);

/* As order_avx512 and the others; `isa` must be supported. */
int32_t roost_ivf_order(int32_t isa, const float *distances, int32_t count, int32_t wanted, int32_t *order);

#endif
