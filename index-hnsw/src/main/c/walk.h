/* The interface between the dispatcher and the walks, one per instruction set. */
#ifndef ROOST_WALK_H
#define ROOST_WALK_H

#include <stdint.h>

/* Lanes in which every walk sums, whatever its registers: so all of them give the same bits. */
#define LANES 16

#define MAX_LEVELS 64

/*
 * The head of a table's memory, which is written by GraphImage.java, and means there what it means here. Node n's record
 * lies at nodes_at + n * stride: `dimension` floats, then `degree` neighbours, -1 after the last. Nodes are numbered from
 * the top layer down, so those of layer l > 0 are 0 to level_counts[l - 1] exclusive; the lists of the upper layers lie
 * one layer after the other at upper_at, `upper_degree` neighbours a node.
 */
struct image {
    uint64_t magic;
    int32_t version;
    int32_t metric;
    int32_t dimension;
    int32_t degree;
    int32_t upper_degree;
    int32_t levels;
    int64_t nodes;
    int64_t rows;
    int64_t stride;
    int64_t nodes_at;
    int64_t upper_at;
    int64_t ids_at;
    int64_t groups_at;
    int64_t bytes;
    int32_t exponent;
    int32_t largest;
    int32_t level_counts[MAX_LEVELS];
};

/*
 * One search. `query` is zero-padded to a multiple of LANES. `allowed` has a bit a node, set where the node may be found;
 * NULL allows all. `visited` has a bit a node, all zero before and after. `candidates` and `log` have room for every node
 * and one more, `found` for `width` entries.
 *
 * An entry is a distance and a node in one signed 64-bit number that is in their order (see key()).
 */
struct search {
    const struct image *image;
    const float *query;
    int32_t inner_product;
    int32_t width;
    const uint64_t *allowed;
    uint64_t *visited;
    int64_t *candidates;
    int32_t *log;
    int64_t *found;
    /* Set by the search: how many distances it computed. */
    int64_t *computed;
};

/* Walks the graph; returns how many entries it left in `found`, nearest first. */
int32_t walk_avx512(const struct search *search);
int32_t walk_avx2(const struct search *search);
int32_t walk_neon(const struct search *search);
int32_t walk_portable(const struct search *search);

/* Looks at the allowed ones of the nodes `from` to `to` exclusive; as above. Needs neither visited, candidates nor log. */
int32_t scan_avx512(const struct search *search, int64_t from, int64_t to);
int32_t scan_avx2(const struct search *search, int64_t from, int64_t to);
int32_t scan_neon(const struct search *search, int64_t from, int64_t to);
int32_t scan_portable(const struct search *search, int64_t from, int64_t to);

#endif
