/* The exported functions, bound by Java. */
#ifndef ROOST_HNSW_H
#define ROOST_HNSW_H

#include "insert.h"

/* Whether this CPU and operating system support an instruction set. */
int32_t roost_hnsw_supports(int32_t isa);

/*
 * Continues a graph search. Returns 1 when it is complete, or 2 if the codes of the nodes found do not tell which of them are near, 0 before, -1
 * if the image is damaged. Here and below `isa` must be supported,
 * and the arguments are the same at every call. `memory` is the image's base; as an argument of its own Java keeps it open during
 * the call.
 */
int32_t roost_hnsw_search(int32_t isa, const struct image *image, const uint8_t *memory, struct search *search);

/* Ends a graph search early: further calls only complete the list of found nodes. */
void roost_hnsw_end_search(struct progress *progress);

/* Continues a scan of the vectors of the nodes `from` to `to` exclusive. Returns 1 when it is complete, 0 before. */
int32_t roost_hnsw_scan(int32_t isa, const struct image *image, const uint8_t *memory, struct search *search,
                        int64_t from, int64_t to);

/* Compares several queries with the allowed nodes from `from` to `to` exclusive; returns the number of nodes compared. */
int64_t roost_hnsw_scan_group(int32_t isa, const struct image *image, const uint8_t *memory, struct group *group,
                              int64_t from, int64_t to);

/* Continues the insertion of a node. Returns 1 when the node is in the graph, 0 before. */
int32_t roost_hnsw_insert(int32_t isa, const struct build *build, struct insert *insert);

/* Prunes the lists of a node that have more neighbors than they keep. */
void roost_hnsw_trim(int32_t isa, const struct build *build, int32_t node);

#endif
