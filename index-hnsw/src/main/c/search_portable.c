/* Plain C99. fmaf keeps results bit-equal to the other implementations; it is slow if the CPU has no fused multiply-add. */
#include <math.h>

/* Which functions to inline is left to the compiler: inlining all of them, of 16 lanes each, takes four times as long to compile. */
#define INLINE static inline
#include "search.h"

typedef struct {
    float lane[LANES];
} vec;

static inline vec vec_zero(void) {
    vec result = {{0}};
    return result;
}

static inline vec vec_load_part(const float *at, int count) {
    vec result = {{0}};
    for (int i = 0; i < count; i++) result.lane[i] = at[i];
    return result;
}

static inline vec vec_load(const float *at) { return vec_load_part(at, LANES); }

static inline vec vec_sub(vec a, vec b) {
    vec result;
    for (int i = 0; i < LANES; i++) result.lane[i] = a.lane[i] - b.lane[i];
    return result;
}

static inline vec vec_fma(vec a, vec b, vec sum) {
    vec result;
    for (int i = 0; i < LANES; i++) result.lane[i] = fmaf(a.lane[i], b.lane[i], sum.lane[i]);
    return result;
}

static inline void fold(const vec *sums, float *out) {
    for (int i = 0; i < 4; i++) {
        vec sum = sums[i];
        for (int half = LANES / 2; half > 0; half /= 2) {
            for (int j = 0; j < half; j++) sum.lane[j] += sum.lane[j + half];
        }
        out[i] = sum.lane[0];
    }
}

#define SEARCH search_portable
#define SCAN scan_portable
#define RERANK rerank_portable
#include "float_body.h"

#define GROUP_QUERIES 1
#define GROUP_ROWS 4
#define SCAN_GROUP scan_group_portable
#include "group_body.h"

INLINE void sum_run(const uint8_t *codes, const uint8_t *table, int32_t groups, uint32_t *sums) {
    for (int32_t group = 0; group < groups; group++, codes += GROUP_BYTES, table += GROUP_BYTES) {
        for (int i = 0; i < BLOCK / 2; i++) {
            sums[i] += table[codes[i] & 15];
            sums[i + BLOCK / 2] += table[codes[i] >> 4];
        }
    }
}

#define SEARCH_ESTIMATES search_estimates_portable
#include "estimate_body.h"

#define INSERT insert_portable
#define TRIM trim_portable
#include "insert_body.h"
