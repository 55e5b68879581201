/* The interface between the dispatcher and the scans of codes, one per instruction set. */
#ifndef ROOST_CODES_H
#define ROOST_CODES_H

#include <stdint.h>

/* Rows that lie side by side. */
#define TILE 16

/*
 * Rows of unsigned bytes in tiles of TILE, four components of each row after the other, so that a register of 64 bytes
 * holds as many components of TILE rows and sums need no folding. `stride`, a multiple of 4, is bytes per row. Memory of
 * `codes` and `terms` is whole tiles, whatever `count` says.
 *
 * A row's score for query q is terms[row] + slopes[q] * the sum of its bytes less 128 times the query's signed weights,
 * multiplied, then added; starts[q], -128 times the sum of these weights, takes the 128 off where bytes are multiplied
 * unsigned. Of the rows from `first`, a multiple of TILE, to `end`, those with a score up to bounds[q] are appended to rows
 * and scores at q * room, of which found[q] says how many; room is at least `end` less `first` and a tile. Of the rows
 * beyond, up to `count`, memory is only asked for: another scan is about to begin there.
 */
struct codes {
    const uint8_t *codes;
    const float *terms;
    int32_t first;
    int32_t end;
    int32_t count;
    int32_t stride;
    int32_t query_count;
    const int8_t *weights;
    const int32_t *starts;
    const float *slopes;
    const float *bounds;
    int32_t room;
    int32_t *found;
    int32_t *rows;
    float *scores;
};

void codes_vnni(const struct codes *scan);
void codes_avx2(const struct codes *scan);
void codes_neon(const struct codes *scan);
void codes_dot(const struct codes *scan);
void codes_portable(const struct codes *scan);

#endif
