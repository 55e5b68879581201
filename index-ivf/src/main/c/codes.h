/* The interface between the dispatcher and the scans of codes, one per instruction set. */
#ifndef ROOST_CODES_H
#define ROOST_CODES_H

#include <stdint.h>
#include <string.h>

/* Rows per tile. */
#define TILE 16
/* The unit of the low weights, in units of the others. */
#define LOW_UNIT 0x1p-7f
#define MAX_WEIGHT 127
/* With a mean absolute weight below this, what the weights have lost gets weights too. */
#define MIN_MEAN 16

/*
 * A scan of codes, written by CodeGroup.java, which defines the same layout: rows of unsigned byte codes in tiles of TILE: four components of each row, then the next four, so that a register of 64 bytes
 * holds the same components of TILE rows and sums need no folding. `stride`, a multiple of 4, is bytes per row. `codes` and
 * `terms` have memory for whole tiles, even if `count` is not a multiple of TILE.
 *
 * A row's score for query q is bases[q] + (terms[row] + slopes[q] * (scales[row] * the sum over components of (code - 128) times the
 * query's signed weight)), each step rounded. Kernels that multiply unsigned bytes add starts[q], which is -128 times the sum of
 * the weights, to subtract the 128. The rows from `first`, a multiple of TILE, to `end`, exclusive, are scanned. Rows with a
 * score up to bounds[q] are appended to `rows` and `scores` at q * room, and found[q] is their number; room is at least
 * `end` - `first` + TILE. The rows from `end` to `count` are only prefetched, for the next scan.
 *
 * If fine[q] is not 0, LOW_UNIT times the sum with low_weights and low_starts is added to the sum. So weights keep their precision if a few
 * components are much larger than the others, which takes twice the time.
 *
 * roost_ivf_weigh writes weights, starts, slopes and bases from `queries` and `center`, of `components` floats each, a multiple of
 * LANES, padded with zeros. It also writes the squared length of what the weights stand for, and of their rounding error.
 */
struct codes {
    int8_t *weights;
    int32_t *starts;
    float *slopes;
    const float *bounds;
    int32_t *found;
    int32_t *rows;
    float *scores;
    float *bases;
    float *lengths;
    float *errors;
    int8_t *low_weights;
    int32_t *low_starts;
    int32_t *fine;
    const float *queries;
    const float *center;
    int32_t first;
    int32_t end;
    int32_t count;
    int32_t stride;
    int32_t query_count;
    int32_t room;
    int32_t components;
    int32_t inner_product;
    /* Set by the call. */
    const uint8_t *codes;
    const float *terms;
    const float *scales;
};

/* Four weights, as one number to be repeated in a register. */
static inline int32_t four_weights(const int8_t *at) {
    int32_t four;
    memcpy(&four, at, sizeof four);
    return four;
}

void weigh_avx512(const struct codes *scan);
void weigh_avx2(const struct codes *scan);
void weigh_neon(const struct codes *scan);
void weigh_portable(const struct codes *scan);
void codes_vnni(const struct codes *scan);
void codes_avx2(const struct codes *scan);
void codes_neon(const struct codes *scan);
void codes_dot(const struct codes *scan);
void codes_portable(const struct codes *scan);

#endif
