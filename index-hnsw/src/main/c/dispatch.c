/* The exported functions, which choose a kernel by instruction set. */
#include <stddef.h>

#include "heap.h"
#include "isa.h"
#include "roost_hnsw.h"

_Static_assert(offsetof(struct progress, size) == 4 && offsetof(struct progress, logged) == 8 &&
                   offsetof(struct progress, computed) == 16 && offsetof(struct progress, expanded) == 24 &&
                   sizeof(struct progress) <= 128,
               "as in SearchScratch.java");
_Static_assert(offsetof(struct insertion, progress) == 0 && sizeof(struct insertion) <= 128,
               "as in SearchScratch.java");

int32_t roost_hnsw_supports(int32_t isa) { return cpu_has(isa); }

/* Visited marks cleared in the time of one distance. */
#define FORGOTTEN_PER_DISTANCE 8

/* Clears the visited marks; returns whether all are clear, and `found` is ready to be sorted from `next`. */
static int forget(const struct search *search) {
    struct progress *progress = search->progress;
    if (progress->left <= 0) return 0;
    int64_t end = progress->next + progress->left * FORGOTTEN_PER_DISTANCE;
    if (end > progress->logged) end = progress->logged;
    progress->left -= (end - progress->next) / FORGOTTEN_PER_DISTANCE;
    for (int64_t i = progress->next; i < end; i++) search->visited[search->log[i] / 64] = 0;
    progress->next = end;
    if (end < progress->logged) return 0;
    progress->next = progress->size;
    return 1;
}

/* Continues the heapsort of `found`, nearest first, of which the first `next` entries are still a heap; returns whether it is done. */
static int sort(const struct search *search) {
    struct progress *progress = search->progress;
    int64_t size = progress->next;
    int64_t left = progress->left;
    for (; size > 1 && left > 0; left--) size = sort_one(search->found, size);
    progress->next = size;
    progress->left = left;
    return size <= 1;
}

static void search_layers(int32_t isa, const struct search *search) {
    if (search->image->coded == VECTORS) {
        CALL(isa, search, search);
    } else {
        CALL_BYTES(isa, search_codes, search);
    }
}

/* Begins a rerank, or goes on with more of the nodes found by codes. */
static void rerank_to(const struct search *search, int64_t end) {
    struct progress *progress = search->progress;
    progress->size = (int32_t)(end < progress->by_code ? end : progress->by_code);
    progress->nearest = INT64_MAX;
    progress->phase = RERANKING;
}

/* Whether one of the last third of the reranked nodes is among their nearest half. */
static int is_unsure(const struct search *search) {
    const struct progress *progress = search->progress;
    int32_t nearer = 0;
    for (int32_t i = 0; i < progress->size; i++) nearer += search->found[i] < progress->nearest;
    return nearer < progress->size / 2;
}

static void rerank_found(int32_t isa, const struct search *search) {
    struct progress *progress = search->progress;
    while (progress->phase == RERANKING && progress->left > 0) {
        CALL(isa, rerank, search);
        if (progress->phase == SORTING_AGAIN) {
            const int unsure = is_unsure(search);
            progress->unsure = unsure && progress->size == progress->by_code;
            if (unsure && !progress->unsure) {
                rerank_to(search, 2ll * progress->size);
            } else {
                progress->next = progress->size;
            }
        }
    }
}

int32_t roost_hnsw_search(int32_t isa, const struct image *image, const uint8_t *memory, struct search *search) {
    (void)memory;
    struct progress *progress = search->progress;
    search->image = image;
    progress->left = search->budget;
    if (progress->phase == BEGUN && image->coded != VECTORS) weigh(search);
    if (progress->phase <= SEARCHING) search_layers(isa, search);
    if (progress->phase == FORGETTING && forget(search)) progress->phase = SORTING;
    if (progress->phase == SORTING && sort(search)) {
        progress->phase = DONE;
        progress->unsure = 0;
        if (image->coded == CODES_AND_VECTORS) {
            progress->by_code = progress->size;
            progress->next = 0;
            rerank_to(search, search->most_reranked);
        }
    }
    if (progress->phase == RERANKING) rerank_found(isa, search);
    if (progress->phase == SORTING_AGAIN && sort(search)) progress->phase = DONE;
    if (progress->phase == DAMAGED) return -1;
    return progress->phase == DONE ? 1 + progress->unsure : 0;
}

void roost_hnsw_end_search(struct progress *progress) {
    if (progress->phase == STARTING || progress->phase == DESCENDING || progress->phase == SEARCHING) {
        progress->next = 0;
        progress->phase = FORGETTING;
    }
}

int32_t roost_hnsw_scan(int32_t isa, const struct image *image, const uint8_t *memory, struct search *search,
                        int64_t from, int64_t to) {
    (void)memory;
    struct progress *progress = search->progress;
    search->image = image;
    progress->left = search->budget;
    if (progress->phase == BEGUN) {
        progress->next = from;
        progress->phase = SEARCHING;
    }
    if (progress->phase == SEARCHING) {
        CALL(isa, scan, search, to);
        if (progress->phase == SORTING) progress->next = progress->size;
    }
    if (progress->phase == SORTING && sort(search)) progress->phase = DONE;
    return progress->phase == DONE;
}

int64_t roost_hnsw_scan_group(int32_t isa, const struct image *image, const uint8_t *memory, struct group *group,
                              int64_t from, int64_t to) {
    (void)memory;
    group->image = image;
    return CALL(isa, scan_group, group, from, to);
}

static void insert_on(int32_t isa, const struct insert *insert) {
    if (insert->build->image->coded == VECTORS) {
        CALL(isa, insert, insert);
    } else {
        CALL_BYTES(isa, insert_codes, insert);
    }
}

int32_t roost_hnsw_insert(int32_t isa, const struct build *build, struct insert *insert) {
    struct search *search = insert->search;
    struct insertion *insertion = insert->insertion;
    struct progress *progress = &insertion->progress;
    insert->build = build;
    search->image = build->image;
    progress->left = search->budget;
    while (progress->phase != INSERTED && progress->left > 0) {
        switch (progress->phase) {
            case UNMARKING:
                if (forget(search)) {
                    progress->logged = 0;
                    progress->phase = RANKING;
                }
                break;
            case RANKING:
                if (sort(search)) {
                    insert->picked[progress->level * (build->image->degree + 1ll)] = 0;
                    insertion->considered = 0;
                    insertion->rule = STRICT;
                    progress->phase = CHOOSING;
                }
                break;
            default:
                insert_on(isa, insert);
        }
    }
    return progress->phase == INSERTED;
}

void roost_hnsw_trim(int32_t isa, const struct build *build, int32_t node) {
    const struct image *image = build->image;
    struct progress progress = {0};
    const struct search search = {.image = image, .progress = &progress};
    for (int32_t level = 0; level <= image->levels && (level == 0 || node < image->level_counts[level - 1]); level++) {
        if (image->coded == VECTORS) {
            CALL(isa, trim, build, &search, level, node);
        } else {
            CALL_BYTES(isa, trim_codes, build, &search, level, node);
        }
    }
}
