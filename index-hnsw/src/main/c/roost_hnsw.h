/* The exported functions, which Java binds. */
#ifndef ROOST_HNSW_H
#define ROOST_HNSW_H

#include "insert.h"

/* Whether this CPU, under this operating system, runs the walk of an instruction set. */
int32_t roost_hnsw_supports(int32_t isa);

/*
 * Goes on with a walk; 1 when it is done, 0 before, -1 where the table turns out to be damaged. Arguments as in struct
 * search, the same at every call; `isa` must be supported. Of what a walk over codes has found the first `most_reranked` are
 * measured again, and the rest is dropped; `weights` has room for 4 * MOST_DIMENSIONS. `estimates` is NULL but where
 * neighbours have codes.
 */
int32_t roost_hnsw_walk(int32_t isa, const struct image *image, const float *query, int32_t inner_product,
                        int32_t width, int32_t most_reranked, const uint64_t *allowed, uint64_t *visited,
                        int64_t *candidates, int32_t *log, int64_t *found, int8_t *weights, struct estimate *estimates,
                        struct progress *progress, int32_t budget, int64_t labels);

/* Has a walk go no further: what remains is to make a list of what it has found. */
void roost_hnsw_end_walk(struct progress *progress);

/* Goes on looking at the vectors of the nodes `from` to `to` exclusive; as above. */
int32_t roost_hnsw_scan(int32_t isa, const struct image *image, const float *query, int32_t inner_product,
                        int32_t width, const uint64_t *allowed, int64_t from, int64_t to, int64_t *found,
                        struct progress *progress, int32_t budget);

/*
 * Compares several queries with the allowed ones of the nodes `from` to `to` exclusive; returns how many nodes these are. Arguments
 * as in struct group; `isa` must be supported.
 */
int64_t roost_hnsw_scan_group(int32_t isa, const struct image *image, const float *queries, int64_t query_stride,
                              int32_t count, int32_t width, int32_t inner_product, const uint64_t *allowed,
                              int64_t from, int64_t to, int64_t *found, int32_t *sizes, float *bounds);

/*
 * Goes on with the insertion of a node; 1 when it is in the graph, 0 before. Arguments as in struct build, struct search and
 * struct insert, the same at every call; `width` is that of the search for neighbours, `query` has room for a vector.
 */
int32_t roost_hnsw_insert(int32_t isa, struct image *image, float *lengths, uint16_t *chosen, uint8_t *locks,
                          int32_t links, float factor, int32_t node, int32_t width, float *query, uint64_t *visited,
                          int64_t *candidates, int32_t *log, int64_t *found, int64_t *picked,
                          struct insertion *insertion, int32_t budget);

/* Brings the lists of a node that have more neighbours than they are to keep back to those; arguments as above. */
void roost_hnsw_trim(int32_t isa, struct image *image, float *lengths, uint16_t *chosen, int32_t links, float factor,
                     int32_t node);

#endif
