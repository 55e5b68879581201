/* The interface between the dispatcher and the walks, one per instruction set. */
#ifndef ROOST_WALK_H
#define ROOST_WALK_H

#include <stdint.h>

/* Lanes in which every walk sums, whatever its registers: so all of them give the same bits. */
#define LANES 16

/* Rows of codes are read up to a multiple of this. */
#define CODE_LANES 64
/* A fine weight is so many times its high part, from -127 to 127, plus its low part, from -64 to 63. */
#define HIGH_BITS 7
#define HIGH_UNIT (1 << HIGH_BITS)

#define MAX_LEVELS 64
#define MOST_DIMENSIONS 4096

/*
 * The head of a table's memory, which is written by GraphImage.java, and means there what it means here. Node n's record
 * lies at nodes_at + n * stride: what the walk measures it by, then, from links_in, `degree` neighbours, -1 after the
 * last. Its vector, `dimension` floats, lies at vectors_at + n * vector_stride. That is in the record, unless the table is
 * coded: then there are `dimension` codes, and records are whole cache lines. A coded table also has a term a node at
 * terms_at, and at steps_at the middles and then the steps that codes count in, one a dimension.
 *
 * Nodes are numbered from the top layer down, so those of layer l > 0 are 0 to level_counts[l - 1] exclusive; the lists of
 * the upper layers lie one layer after the other at upper_at, `upper_degree` neighbours a node.
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
    int32_t coded;
    int32_t links_in;
    int64_t vectors_at;
    int64_t vector_stride;
    int64_t terms_at;
    int64_t steps_at;
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
    /* What a query is compared with codes by, zero-padded to a multiple of CODE_LANES: weights, or the high and the low
     * parts of fine weights, low being NULL otherwise; see weigh(). */
    const int8_t *high;
    const int8_t *low;
    /* -128 times their sums. */
    int32_t high_start;
    int32_t low_start;
    float slope;
};

/* Walks the graph; returns how many entries it left in `found`, nearest first. */
int32_t walk_avx512(const struct search *search);
int32_t walk_avx2(const struct search *search);
int32_t walk_neon(const struct search *search);
int32_t walk_portable(const struct search *search);

/* The walk over the codes of a coded table; the distances in `found` are the codes'. */
int32_t walk_codes_vnni(const struct search *search);
int32_t walk_codes_avx2(const struct search *search);
int32_t walk_codes_dot(const struct search *search);
int32_t walk_codes_neon(const struct search *search);
int32_t walk_codes_portable(const struct search *search);

/* Sets what the walk over codes reads of the query, and writes the weights to a place for twice MOST_DIMENSIONS. */
void weigh(struct search *search, int8_t *weights);

/* Measures the first `size` entries in `found` again, by their vectors, and puts them in order; returns `size`. */
int32_t rerank_avx512(const struct search *search, int32_t size);
int32_t rerank_avx2(const struct search *search, int32_t size);
int32_t rerank_neon(const struct search *search, int32_t size);
int32_t rerank_portable(const struct search *search, int32_t size);

/* Looks at the allowed ones of the nodes `from` to `to` exclusive; as above. Needs neither visited, candidates nor log. */
int32_t scan_avx512(const struct search *search, int64_t from, int64_t to);
int32_t scan_avx2(const struct search *search, int64_t from, int64_t to);
int32_t scan_neon(const struct search *search, int64_t from, int64_t to);
int32_t scan_portable(const struct search *search, int64_t from, int64_t to);

#endif
