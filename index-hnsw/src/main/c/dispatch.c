/* The exported functions, which choose a kernel by instruction set. */
#include <stddef.h>

#include "heap.h"
#include "isa.h"
#include "roost_hnsw.h"

_Static_assert(offsetof(struct progress, size) == 4 && offsetof(struct progress, logged) == 8 &&
                   offsetof(struct progress, computed) == 16 && offsetof(struct progress, expanded) == 24 &&
                   sizeof(struct progress) <= 128,
               "as in SearchScratch.java");
_Static_assert(offsetof(struct insertion, progress) == 0 && sizeof(struct insertion) <= 128, "as in SearchScratch.java");

int32_t roost_hnsw_supports(int32_t isa) { return cpu_has(isa); }

/* Visited marks cleared in the time of one distance. */
#define FORGOTTEN_PER_DISTANCE 8

static void forget(const struct search *search) {
    struct progress *progress = search->progress;
    if (progress->left <= 0) return;
    int64_t end = progress->next + progress->left * FORGOTTEN_PER_DISTANCE;
    if (end > progress->logged) end = progress->logged;
    progress->left -= (end - progress->next) / FORGOTTEN_PER_DISTANCE;
    if (search->image->coded == NEIGHBOR_CODES) {
        for (int64_t i = progress->next; i < end; i++) search->estimates[search->log[i]] = (struct estimate){0, 0};
    } else {
        for (int64_t i = progress->next; i < end; i++) search->visited[search->log[i] / 64] = 0;
    }
    progress->next = end;
    if (end == progress->logged) {
        progress->next = progress->size;
        progress->phase = SORTING;
    }
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

/* Points a search to its query's weights or table; computes them in its first call. */
static void prepare(struct search *search, int8_t *weights) {
    const int begins = search->progress->phase == BEGUN;
    if (search->image->coded == NEIGHBOR_CODES) {
        if (begins) tabulate(search, (uint8_t *)weights);
        search->table = (const uint8_t *)weights;
        search->slope = search->progress->slope;
        search->offset = search->progress->offset;
    } else if (search->image->coded != VECTORS) {
        if (begins) weigh(search, weights);
        use_weights(search, weights);
    }
}

static void search_layers(int32_t isa, const struct search *search) {
    switch (search->image->coded) {
        case VECTORS:
            CALL(isa, search, search);
            break;
        case NEIGHBOR_CODES:
            CALL(isa, search_estimates, search);
            break;
        default:
            CALL_BYTES(isa, search_codes, search);
    }
}

int32_t roost_hnsw_search(int32_t isa, const struct image *image, const float *query, int32_t inner_product,
                        int32_t width, int32_t most_reranked, const uint64_t *allowed, uint64_t *visited,
                        int64_t *candidates, int32_t *log, int64_t *found, int8_t *weights, struct estimate *estimates,
                        struct progress *progress, int32_t budget, int64_t labels) {
    struct search search = {image, query, inner_product, width,     allowed, visited, candidates,
                            log,   found, progress,      budget,    0,       0,       0,
                            0,     0,     labels,        estimates, 0,       0};
    progress->left = budget;
    prepare(&search, weights);
    if (progress->phase <= SEARCHING) search_layers(isa, &search);
    if (progress->phase == FORGETTING) forget(&search);
    if (progress->phase == SORTING && sort(&search)) {
        progress->phase = DONE;
        if (image->coded == CODES_AND_VECTORS) {
            if (progress->size > most_reranked) progress->size = most_reranked;
            progress->next = 0;
            progress->phase = RERANKING;
        }
    }
    if (progress->phase == RERANKING) {
        CALL(isa, rerank, &search);
        if (progress->phase == SORTING_AGAIN) progress->next = progress->size;
    }
    if (progress->phase == SORTING_AGAIN && sort(&search)) progress->phase = DONE;
    if (progress->phase == DAMAGED) return -1;
    return progress->phase == DONE;
}

void roost_hnsw_end_search(struct progress *progress) {
    if (progress->phase == DESCENDING || progress->phase == SEARCHING) {
        progress->next = 0;
        progress->phase = FORGETTING;
    }
}

int32_t roost_hnsw_scan(int32_t isa, const struct image *image, const float *query, int32_t inner_product,
                        int32_t width, const uint64_t *allowed, int64_t from, int64_t to, int64_t *found,
                        struct progress *progress, int32_t budget) {
    const struct search search = {
        image, query, inner_product, width, allowed, 0, 0, 0, found, progress, budget, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    progress->left = budget;
    if (progress->phase == BEGUN) {
        progress->next = from;
        progress->phase = SEARCHING;
    }
    if (progress->phase == SEARCHING) {
        CALL(isa, scan, &search, to);
        if (progress->phase == SORTING) progress->next = progress->size;
    }
    if (progress->phase == SORTING && sort(&search)) progress->phase = DONE;
    return progress->phase == DONE;
}

int64_t roost_hnsw_scan_group(int32_t isa, const struct image *image, const float *queries, int64_t query_stride,
                              int32_t count, int32_t width, int32_t inner_product, const uint64_t *allowed,
                              int64_t from, int64_t to, int64_t *found, int32_t *sizes, float *bounds) {
    const struct group group = {image,         queries, query_stride, count, width,
                                inner_product, allowed, found,        sizes, bounds};
    return CALL(isa, scan_group, &group, from, to);
}

int32_t roost_hnsw_insert(int32_t isa, struct image *image, float *lengths, uint16_t *chosen, uint8_t *locks,
                          int32_t links, float factor, int32_t node, int32_t width, float *query, uint64_t *visited,
                          int64_t *candidates, int32_t *log, int64_t *found, int64_t *picked,
                          struct insertion *insertion, int32_t budget) {
    const struct build build = {image, lengths, chosen, locks, links, factor};
    struct progress *progress = &insertion->progress;
    const struct insert insert = {
        &build,
        {image, query, 0, width, 0, visited, candidates, log, found, progress, budget, 0, 0, 0, 0, 0, 0, 0, 0, 0},
        query,
        picked,
        insertion,
        node};
    progress->left = budget;
    while (progress->phase != INSERTED && progress->left > 0) {
        switch (progress->phase) {
            case UNMARKING: {
                int64_t end = progress->next + progress->left * FORGOTTEN_PER_DISTANCE;
                if (end > progress->logged) end = progress->logged;
                progress->left -= (end - progress->next) / FORGOTTEN_PER_DISTANCE;
                for (int64_t i = progress->next; i < end; i++) visited[log[i] / 64] = 0;
                progress->next = end;
                if (end == progress->logged) {
                    progress->logged = 0;
                    progress->next = progress->size;
                    progress->phase = RANKING;
                }
                break;
            }
            case RANKING:
                if (sort(&insert.search)) {
                    picked[progress->level * (image->degree + 1ll)] = 0;
                    insertion->considered = 0;
                    insertion->filling = 0;
                    progress->phase = CHOOSING;
                }
                break;
            default:
                CALL(isa, insert, &insert);
        }
    }
    return progress->phase == INSERTED;
}

void roost_hnsw_trim(int32_t isa, struct image *image, float *lengths, uint16_t *chosen, int32_t links, float factor,
                     int32_t node) {
    const struct build build = {image, lengths, chosen, 0, links, factor};
    struct progress progress = {0};
    const struct search search = {image, 0, 0, 0, 0, 0, 0, 0, 0, &progress, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    for (int32_t level = 0; level <= image->levels && (level == 0 || node < image->level_counts[level - 1]); level++) {
        CALL(isa, trim, &build, &search, level, node);
    }
}
