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

/* Neighbours whose codes lie together and are scored together. */
#define BLOCK 32
/* Components of a row are coded up to a multiple of this. */
#define PADDED_TO 16
/* Components of which one byte of a table holds what they add: as many as a code has bits in half a byte. */
#define GROUP 4
/* Bytes of a group in a block: a half for each neighbour, and in a query's table one for each code. */
#define GROUP_BYTES 16

/* The contents of an image, as in GraphImage.java. */
enum content { VECTORS, CODES_AND_VECTORS, CODES, NEIGHBOR_CODES };

/* Candidates there is room for where estimates are walked by, for each node that has one. */
#define CANDIDATES_PER_NODE 4

#define MAX_LEVELS 64
#define MOST_DIMENSIONS 4096

/*
 * The head of a table's memory, which is written by GraphImage.java, and means there what it means here. Node n's record
 * lies at nodes_at + n * stride: what the walk measures it by, then, from links_in, `degree` neighbours, -1 after the
 * last. Its vector, `dimension` floats, lies at vectors_at + n * vector_stride. That is in the record, unless the table is
 * coded: then there are `dimension` codes, and records are whole cache lines. A coded table also has a term a node at
 * terms_at, and at steps_at the middles and then the steps that codes count in, one a dimension. Where vectors_at is 0 it
 * has no vectors.
 *
 * With neighbour codes a record is the vector, from the next cache line on a block for every BLOCK neighbours, and these.
 * A block is BLOCK codes, of a bit for each component, the components padded to a multiple of PADDED_TO: in byte j of a
 * group the lower half is of neighbour j, the upper one of neighbour j + 16. Then there are BLOCK floats to add, and BLOCK
 * to multiply by; see neighbor_codes.c.
 *
 * At ids_at there are eight bytes per row. In a table without vectors rows are nodes, and the last four are a node's label.
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

/* What a search is at. */
enum phase {
    BEGUN,
    /* The upper layers, from the top down. */
    DESCENDING,
    /* Layer 0. */
    WALKING,
    /* Takes the marks off again. */
    FORGETTING,
    SORTING,
    /* Measures what was found by codes again, by the vectors. */
    RERANKING,
    SORTING_AGAIN,
    DONE,
    /* A neighbour is no node, or a label has no bit: the table was changed after it was written. */
    DAMAGED
};

/*
 * How far a search is. It is made in calls that end when they have done their share, so that between two its caller can see
 * whether it is still wanted; this, and what the search has written to its lists, is all that it goes on from. The
 * first five are zero before the first call, and read by WalkScratch.java, too.
 */
struct progress {
    int32_t phase;
    /* Entries in `found`. */
    int32_t size;
    /* Nodes in `log`. */
    int64_t logged;
    /* How many distances have been computed. */
    int64_t computed;
    /* How many nodes of layer 0 have had their neighbours looked at. */
    int64_t expanded;
    /* What this call may still do, in distances; it ends when that is no longer positive. */
    int64_t left;
    /* Entries in `candidates`. */
    int64_t waiting;
    /* What comes next in the list that the phase goes through: neighbours of `from`, the log, what was found, or nodes. */
    int64_t next;
    /* In the upper layers: the entry whose neighbours are measured, the nearest of them so far, and the layer. */
    int64_t from;
    int64_t nearest;
    int32_t level;
    /* What the query is compared with codes by; see weigh(). */
    int32_t fine;
    int32_t high_start;
    int32_t low_start;
    float slope;
    /* What the sums from neighbours' codes are less, once they are multiplied by the slope. */
    float offset;
};

/* What is known of the distance of a node that has not been measured: the sum of what it was estimated at by the codes beside
 * `count` of its neighbours. All zero before and after a search; -1 of them once the node is expanded. */
struct estimate {
    float sum;
    int32_t count;
};

/*
 * One search. `query` is zero-padded to a multiple of LANES. `allowed` has one bit per node, set where the node may be found,
 * or, where `labels` is positive, as many bits, of which a node's is the one that its label numbers; NULL allows all.
 * `visited` has one bit per node, all zero before and after. `candidates` has room for every node and one more,
 * `log` for every node and a tile more, `found` for `width` entries. `budget` is what one call may do, in distances: a
 * multiple of TILE from TILE on. It may go over it by a quarter, and the marks of a node's neighbours. Where neighbours
 * have codes there are `estimates`, one per node, in place of the marks, and room for CANDIDATES_PER_NODE times as many
 * candidates.
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
    struct progress *progress;
    int32_t budget;
    /* What a query is compared with codes by, zero-padded to a multiple of CODE_LANES: weights, or the high and the low
     * parts of fine weights, low being NULL otherwise; see weigh(). */
    const int8_t *high;
    const int8_t *low;
    /* -128 times their sums. */
    int32_t high_start;
    int32_t low_start;
    float slope;
    int64_t labels;
    struct estimate *estimates;
    /* What a query is compared with neighbours' codes by: GROUP_BYTES a group, of which a code's is what the group adds. */
    const uint8_t *table;
    float offset;
};

/* Goes on with the walk until it has come to FORGETTING, or the call's share is done; `found` is a heap then. */
void walk_avx512(const struct search *search);
void walk_avx2(const struct search *search);
void walk_neon(const struct search *search);
void walk_portable(const struct search *search);

/* The walk over the codes of a coded table; the distances in `found` are the codes'. */
void walk_codes_vnni(const struct search *search);
void walk_codes_avx2(const struct search *search);
void walk_codes_dot(const struct search *search);
void walk_codes_neon(const struct search *search);
void walk_codes_portable(const struct search *search);

/* The walk by what neighbours are estimated at from the codes beside a node; the distances in `found` are exact. */
void walk_estimates_avx512(const struct search *search);
void walk_estimates_avx2(const struct search *search);
void walk_estimates_neon(const struct search *search);
void walk_estimates_portable(const struct search *search);

/* Components that neighbours' codes are of. */
static inline int32_t code_length(int32_t dimension) { return (dimension + PADDED_TO - 1) / PADDED_TO * PADDED_TO; }

/* Writes what a walk over neighbours' codes reads of the query: the table to a place for GROUP_BYTES / GROUP times
 * MOST_DIMENSIONS, the rest to the progress. */
void tabulate(const struct search *search, uint8_t *table);

/* Writes what the walk over codes reads of the query: the weights to a place for twice MOST_DIMENSIONS, the rest to the
 * progress. */
void weigh(const struct search *search, int8_t *weights);
/* Has a search read what weigh() has written. */
void use_weights(struct search *search, const int8_t *weights);

/* Goes on measuring the entries in `found` by their vectors, and makes a heap of them, until SORTING_AGAIN. */
void rerank_avx512(const struct search *search);
void rerank_avx2(const struct search *search);
void rerank_neon(const struct search *search);
void rerank_portable(const struct search *search);

/*
 * Goes on looking at the allowed ones of the nodes from `next` to `to` exclusive, until SORTING. Needs neither visited,
 * candidates nor log.
 */
void scan_avx512(const struct search *search, int64_t to);
void scan_avx2(const struct search *search, int64_t to);
void scan_neon(const struct search *search, int64_t to);
void scan_portable(const struct search *search, int64_t to);

/*
 * Several queries that are compared with the same nodes. Query q is at queries + q * query_stride, zero-padded to
 * `query_stride` floats, a multiple of LANES. It has room for `width` entries at found + q * width, a heap of sizes[q] of them with
 * the farthest at its root, and bounds[q] is the root's distance once there are `width`, infinite before. `allowed` is as in
 * struct search.
 */
struct group {
    const struct image *image;
    const float *queries;
    int64_t query_stride;
    int32_t count;
    int32_t width;
    int32_t inner_product;
    const uint64_t *allowed;
    int64_t *found;
    int32_t *sizes;
    float *bounds;
};

/* Compares all queries with the allowed ones of the nodes `from` to `to` exclusive, at the distances of a scan to the bit. Returns how
 * many nodes these are. */
int64_t scan_group_avx512(const struct group *group, int64_t from, int64_t to);
int64_t scan_group_avx2(const struct group *group, int64_t from, int64_t to);
int64_t scan_group_neon(const struct group *group, int64_t from, int64_t to);
int64_t scan_group_portable(const struct group *group, int64_t from, int64_t to);

#endif
