/* The exported functions, bound by Java. */
#ifndef ROOST_HNSW_H
#define ROOST_HNSW_H

#include "insert.h"

/* Whether this CPU and operating system support an instruction set. */
int32_t roost_hnsw_supports(int32_t isa);

/*
 * Continues a graph search. Returns 1 when it is complete, 0 before, -1 if the image is damaged. Arguments are as in struct
 * search, and the same at every call; `isa` must be supported. After a search over codes the nearest `most_reranked` found nodes are
 * reranked and the rest is dropped. `weights` has room for 4 * MAX_DIMENSIONS bytes. `estimates` is NULL unless the image has
 * neighbour codes.
 */
int32_t roost_hnsw_search(int32_t isa, const struct image *image, const float *query, int32_t inner_product,
                        int32_t width, int32_t most_reranked, const uint64_t *allowed, uint64_t *visited,
                        int64_t *candidates, int32_t *log, int64_t *found, int8_t *weights, struct estimate *estimates,
                        struct progress *progress, int32_t budget, int64_t labels);

/* Ends a graph search early: further calls only complete the list of found nodes. */
void roost_hnsw_end_search(struct progress *progress);

/* Continues a scan of the vectors of the nodes `from` to `to` exclusive. Returns 1 when it is complete, 0 before. Arguments as above. */
int32_t roost_hnsw_scan(int32_t isa, const struct image *image, const float *query, int32_t inner_product,
                        int32_t width, const uint64_t *allowed, int64_t from, int64_t to, int64_t *found,
                        struct progress *progress, int32_t budget);

/*
 * Compares several queries with the allowed nodes from `from` to `to` exclusive; returns the number of nodes compared. Arguments are
 * as in struct group; `isa` must be supported.
 */
int64_t roost_hnsw_scan_group(int32_t isa, const struct image *image, const float *queries, int64_t query_stride,
                              int32_t count, int32_t width, int32_t inner_product, const uint64_t *allowed,
                              int64_t from, int64_t to, int64_t *found, int32_t *sizes, float *bounds);

/*
 * Continues the insertion of a node. Returns 1 when the node is in the graph, 0 before. Arguments are as in struct build, struct
 * search and struct insert, and the same at every call; `width` is the width of the search for neighbours, `query` has room for a
 * vector.
 */
int32_t roost_hnsw_insert(int32_t isa, struct image *image, float *lengths, uint16_t *chosen, uint8_t *locks,
                          int32_t links, float factor, int32_t node, int32_t width, float *query, uint64_t *visited,
                          int64_t *candidates, int32_t *log, int64_t *found, int64_t *picked,
                          struct insertion *insertion, int32_t budget);

/* Prunes the lists of a node that have more neighbours than they keep. Arguments are as above. */
void roost_hnsw_trim(int32_t isa, struct image *image, float *lengths, uint16_t *chosen, int32_t links, float factor,
                     int32_t node);

#endif
