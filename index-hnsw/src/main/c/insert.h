/* The interface between the dispatcher and the insertion of nodes into a graph, one implementation per instruction set. */
#ifndef ROOST_INSERT_H
#define ROOST_INSERT_H

#include "search.h"

/*
 * A graph under construction, written by GraphInsertion.java, which defines the same layout: an image whose vectors, and codes if
 * it is coded, are all set, with initially empty neighbor lists. Nodes are numbered from the top layer down, and node
 * 0 is inserted first, so it is the entry point throughout.
 *
 * Several threads insert concurrently. A list is changed only by the thread that holds its node's lock; searches read it without a
 * lock. A slot of a list always contains -1 or a node of that layer whose vector is complete, because slots are single words, stored
 * atomically and initially -1. A search that reads a list during a rewrite sees a mix of old and new neighbors, which is harmless.
 * A node is linked from layer 0 up, in each layer first in its own list, without a lock. This is safe because other threads reach
 * the node only through another list of the layer or from the layer above: nobody else has written to its list yet, and
 * nobody reaches it in a layer where its list is empty. Slots are stored with release and read with acquire, so a thread that
 * reaches a node, or changes its list, sees the list's contents.
 *
 * A lock is held while one list is changed, never between two calls, and a thread holds at most one lock.
 */
struct build {
    struct image *image;
    /* The squared distance of each link, list by list: first of layer 0, then of layer 1, and so on. */
    float *lengths;
    /* Per list the length of its prefix chosen by the strict rule: sorted, and no node in it is nearer to another of them than to
     * the list's node. */
    uint16_t *chosen;
    /* One per node. */
    uint8_t *locks;
    /* Neighbors that a list of layer 0 keeps when it is pruned because its room, the image's degree, is full; half as many above. */
    int32_t links;
    /* A dropped candidate may fill a remaining place unless its squared distance to the list's node is more than this many times that to
     * a chosen node; at least 1. */
    float max_cover;
};

enum rule { STRICT, COVERS, LEAST_COVERED };

enum stage { ARRIVED, GOING_DOWN, LOOKING, UNMARKING, RANKING, CHOOSING, LINKING, INSERTED };

/* The state of an insertion; it resumes from this and its lists. The first 32 bytes are zero before the first call. */
struct insertion {
    /* `phase` is the stage. */
    struct progress progress;
    /* The highest layer that the node is in. */
    int32_t top;
    /* Number of entries of the sorted `found` that have been considered as neighbors. */
    int32_t considered;
    /* The rule by which entries are considered; see pick(). */
    int32_t rule;
};

/*
 * One insertion: its arguments, the same at every call and written by InsertScratch.java, which defines the same layout. `search`
 * has the memory of its searches for neighbors; `query` is its query, with room for a vector. `picked` has the node's neighbors per
 * layer: their number, then room for as many entries as the degree of layer 0.
 */
struct insert {
    struct search *search;
    float *query;
    int64_t *picked;
    struct insertion *insertion;
    int32_t node;
    /* Set by the call. */
    const struct build *build;
};

/* Continues the current stage of an insertion, at most until the budget is used; the caller repeats this until INSERTED. */
void insert_avx512(const struct insert *insert);
void insert_avx2(const struct insert *insert);
void insert_neon(const struct insert *insert);
void insert_portable(const struct insert *insert);

/* The same by the codes of a coded image: the node is compared by its own codes. */
void insert_codes_vnni(const struct insert *insert);
void insert_codes_avx2(const struct insert *insert);
void insert_codes_dot(const struct insert *insert);
void insert_codes_neon(const struct insert *insert);
void insert_codes_portable(const struct insert *insert);

/* Prunes a list that has more neighbors than it keeps. No other thread may change or read the list. */
void trim_avx512(const struct build *build, const struct search *search, int32_t level, int64_t node);
void trim_avx2(const struct build *build, const struct search *search, int32_t level, int64_t node);
void trim_neon(const struct build *build, const struct search *search, int32_t level, int64_t node);
void trim_portable(const struct build *build, const struct search *search, int32_t level, int64_t node);
void trim_codes_vnni(const struct build *build, const struct search *search, int32_t level, int64_t node);
void trim_codes_avx2(const struct build *build, const struct search *search, int32_t level, int64_t node);
void trim_codes_dot(const struct build *build, const struct search *search, int32_t level, int64_t node);
void trim_codes_neon(const struct build *build, const struct search *search, int32_t level, int64_t node);
void trim_codes_portable(const struct build *build, const struct search *search, int32_t level, int64_t node);

#endif
