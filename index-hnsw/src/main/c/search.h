/* The interface between the dispatcher and the graph searches and scans, one implementation per instruction set. */
#ifndef ROOST_SEARCH_H
#define ROOST_SEARCH_H

#include <stdint.h>

#include "vec.h"

/* Reads of a row of codes are rounded up to a multiple of this. */
#define CODE_LANES 64
/* A weight of several parts is PART_UNIT times what its first parts are, plus its last part, from -64 to 63; the first is from -127
 * to 127. */
#define PART_BITS 7
#define PART_UNIT (1 << PART_BITS)
#define MAX_PARTS 3

/* The contents of an image, as in GraphImage.java. */
enum content { VECTORS, CODES_AND_VECTORS, CODES };

#define MAX_LEVELS 64
/* Under inner product the descent begins at the nearest of so many of the first nodes, if as many are in upper layers. */
#define MAX_STARTS 256
#define MAX_DIMENSIONS 4096

/*
 * The head of an image, written by GraphImage.java, which defines the same layout. A search reads a copy of it in memory of its
 * own, whose `base` is the address of the image: the image may be a mapped file that changes. All offsets are from there.
 *
 * Node n's record is at nodes_at + n * stride:
 * its vector or codes, then, from links_in, `degree` neighbors, with -1 after the last. Its vector, `dimension` floats, is at
 * vectors_at + n * vector_stride. This is in the record, unless the image is coded: then the record has `dimension` codes, and is
 * padded to whole cache lines. A coded image also has two floats per node at terms_at, its term and the scale of its codes, and
 * at quantizer_at the center of the codes, one float per dimension. If vectors_at is 0, the image has no vectors.
 *
 * At ids_at there are eight bytes per row. If nodes have labels, each is one row, and the last four bytes are its label.
 *
 * Nodes are numbered from the top layer down, so the nodes of layer l > 0 are 0 to level_counts[l - 1] exclusive. The lists of
 * the upper layers are at upper_at, layer by layer, `upper_degree` neighbors per node.
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
    int64_t quantizer_at;
    int32_t level_counts[MAX_LEVELS];
    const uint8_t *base;
};

/* The phase of a search. */
enum phase {
    BEGUN,
    /* Looks for the node where the descent begins. */
    STARTING,
    /* The upper layers, from the top down. */
    DESCENDING,
    /* Layer 0. */
    SEARCHING,
    /* Clears the visited marks. */
    FORGETTING,
    SORTING,
    /* Computes exact distances of the nodes found by codes. */
    RERANKING,
    SORTING_AGAIN,
    DONE,
    /* A neighbor or a label is out of range: the image was modified after it was written. */
    DAMAGED
};

/*
 * The state of a search. A search runs in several calls, each limited by a budget, so that the caller can check for expiry between
 * two. It resumes from this state and its lists alone. The first five fields are zero before the first call, and are also read by
 * SearchScratch.java.
 */
struct progress {
    int32_t phase;
    /* Entries in `found`. */
    int32_t size;
    /* Nodes in `log`. */
    int64_t logged;
    /* Number of distances computed. */
    int64_t computed;
    /* Number of nodes expanded in layer 0. */
    int64_t expanded;
    /* Remaining budget of this call, in distances; the call ends when it is 0 or less. */
    int64_t left;
    /* Entries in `candidates`. */
    int64_t waiting;
    /* Index of the next element in the phase's list: neighbors of `from`, the log, `found`, or nodes. */
    int64_t next;
    /* In the upper layers: the entry whose neighbors are compared, the nearest entry so far, and the layer. In a rerank: the nearest of its last third. */
    int64_t from;
    int64_t nearest;
    int32_t level;
    /* The scalars of the query's weights; see weigh(). */
    int32_t parts;
    /* Per part -128 times the sum of its weights. */
    int32_t starts[MAX_PARTS];
    float slope;
    /* Entries in `found` before the rerank. */
    int32_t by_code;
    /* Whether all were reranked, and codes still did not tell near nodes from far ones. */
    int32_t unsure;
};

/*
 * One search: its arguments, the same at every call and written by SearchArguments.java, which defines the same layout, and what
 * a call derives from them.
 *
 * `query` is zero-padded to a multiple of LANES. `allowed` has one bit per node, set if the node may be found;
 * if `labels` is positive, it has `labels` bits, indexed by the nodes' labels. NULL allows all nodes.
 * `visited` has one bit per node, all zero before and after. `candidates` has room for all nodes plus one,
 * `log` for all nodes plus a tile, `found` for `width` entries, `weights` for MAX_PARTS * MAX_DIMENSIONS bytes: the
 * parts of the query's weights, at every MAX_DIMENSIONS, each zero-padded to a multiple of CODE_LANES. After a search over codes the
 * nearest `most_reranked` found nodes are reranked, twice as many while the last third of them has one of the nearest half, and the rest is
 * dropped: where codes tell nodes apart, those are among the first. `budget` is the work of one call, in distances: a
 * positive multiple of TILE. A call may exceed it by a quarter, plus the check of one node's neighbors. If `scanned` is not 0, no links are
 * followed, and all allowed nodes are compared.
 *
 * An entry is a distance and a node packed into one signed 64-bit number with their order (see key()).
 */
struct search {
    const float *query;
    const uint64_t *allowed;
    uint64_t *visited;
    int64_t *candidates;
    int32_t *log;
    int64_t *found;
    int8_t *weights;
    struct progress *progress;
    int64_t labels;
    int32_t inner_product;
    int32_t width;
    int32_t most_reranked;
    int32_t budget;
    int32_t scanned;
    int32_t unused;
    /* Set by the call. */
    const struct image *image;
};

/* Continues the graph search until FORGETTING or until the budget is used; `found` is a heap then. */
void search_avx512(const struct search *search);
void search_avx2(const struct search *search);
void search_neon(const struct search *search);
void search_portable(const struct search *search);

/* The graph search over the codes of a coded image; the distances in `found` are by code. */
void search_codes_vnni(const struct search *search);
void search_codes_avx2(const struct search *search);
void search_codes_dot(const struct search *search);
void search_codes_neon(const struct search *search);
void search_codes_portable(const struct search *search);

/* Prepares the query for codes: writes its `weights`, and their scalars in the progress. */
void weigh(const struct search *search);

/* Continues to compute the exact distances of the entries in `found`, and makes a heap of them, until SORTING_AGAIN. */
void rerank_avx512(const struct search *search);
void rerank_avx2(const struct search *search);
void rerank_neon(const struct search *search);
void rerank_portable(const struct search *search);

/*
 * Continues the scan of the allowed nodes from `next` to `to` exclusive, until SORTING. Does not use visited, candidates or log.
 */
void scan_avx512(const struct search *search, int64_t to);
void scan_avx2(const struct search *search, int64_t to);
void scan_neon(const struct search *search, int64_t to);
void scan_portable(const struct search *search, int64_t to);

/*
 * Several queries that are compared with the same nodes. Query q is at queries + q * query_stride, zero-padded to
 * `query_stride` floats, a multiple of LANES. Its found entries are a heap of sizes[q] entries at found + q * width, with room for
 * `width` and the farthest at the root; bounds[q] is the root's distance if the heap is full, infinite otherwise. `allowed` is a bit
 * set of nodes, or NULL for all.
 */
struct group {
    const float *queries;
    const uint64_t *allowed;
    int64_t *found;
    int32_t *sizes;
    float *bounds;
    int64_t query_stride;
    int32_t count;
    int32_t width;
    int32_t inner_product;
    /* Set by the call. */
    const struct image *image;
};

/* Compares all queries with the allowed nodes from `from` to `to` exclusive; distances are bit-equal to a scan's. Returns the number
 * of nodes compared. */
int64_t scan_group_avx512(const struct group *group, int64_t from, int64_t to);
int64_t scan_group_avx2(const struct group *group, int64_t from, int64_t to);
int64_t scan_group_neon(const struct group *group, int64_t from, int64_t to);
int64_t scan_group_portable(const struct group *group, int64_t from, int64_t to);

#endif
