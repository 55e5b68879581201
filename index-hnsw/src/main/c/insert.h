/* The interface between the dispatcher and what inserts nodes into a graph, one per instruction set. */
#ifndef ROOST_INSERT_H
#define ROOST_INSERT_H

#include "walk.h"

/*
 * A graph that is being built: an image of vectors, all of which are there from the beginning, with empty neighbour lists.
 * Nodes are inserted in the order of their numbers, which is from the top layer down, so node 0 is where every search begins
 * from first to last.
 *
 * Several threads insert at once. A list is changed by the thread that holds its node's lock; searches read it without. What
 * lies in a slot of a list is at all times -1 or a node of that layer whose vector is complete, since slots are single words
 * that are stored whole and all start as -1: a search that reads while a list is rewritten sees some of the old and some of
 * the new, which is as good. A node is linked from layer 0 up, in each layer to its own list first, without a lock: others come
 * to it only through a list of the layer or through the layer above, so nobody else has written to its own list before, and
 * nobody comes to a layer where it has none. A slot is stored with release and read with acquire, so who comes to a node, or
 * changes its list, sees what it was given.
 *
 * A lock is held while one list is changed, never between two calls, and by nobody who waits for another.
 */
struct build {
    struct image *image;
    /* The squared distance that each link spans, list by list: those of layer 0, then those of layer 1, and so on. */
    float *lengths;
    /* How many of a list's first nodes are sorted, and none nearer to another of them than to the list's node. */
    uint16_t *chosen;
    /* One a node. */
    uint8_t *locks;
    /* Neighbours that a list of layer 0 is brought back to when its room, the image's degree, is used up; half of it above. */
    int32_t links;
    /* Places that are left go to candidates that were left out, but not to one that is nearer by this factor, of squared
     * distances, to a chosen one than to the list's node; at least 1. */
    float factor;
};

enum stage { ARRIVED, GOING_DOWN, LOOKING, UNMARKING, RANKING, CHOOSING, LINKING, INSERTED };

/* How far an insertion is; it goes on from this and from its lists. The first 32 bytes are zero before the first call. */
struct insertion {
    /* `phase` is the stage. */
    struct progress walk;
    /* The highest layer that the node is in. */
    int32_t top;
    /* Where the best of what the search has found are, sorted, how many have been thought about. */
    int32_t considered;
    /* Whether all have been, and are thought about again for the places that are left. */
    int32_t filling;
};

/*
 * One call. As in struct search; `picked` has room for the node's neighbours in each layer: how many, then as many entries as
 * the degree of layer 0.
 */
struct insert {
    const struct build *build;
    struct search search;
    float *query;
    int64_t *picked;
    struct insertion *insertion;
    int32_t node;
};

/* Goes on with an insertion until it is INSERTED or the call's share is done. */
void insert_avx512(const struct insert *insert);
void insert_avx2(const struct insert *insert);
void insert_neon(const struct insert *insert);
void insert_portable(const struct insert *insert);

/* Brings a list that has more than it keeps back to that; no other thread changes it or reads it. */
void trim_avx512(const struct build *build, const struct search *search, int32_t level, int64_t node);
void trim_avx2(const struct build *build, const struct search *search, int32_t level, int64_t node);
void trim_neon(const struct build *build, const struct search *search, int32_t level, int64_t node);
void trim_portable(const struct build *build, const struct search *search, int32_t level, int64_t node);

#endif
