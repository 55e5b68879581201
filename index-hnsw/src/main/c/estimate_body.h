/*
 * Graph search by estimates. When a node is expanded, its exact distance is computed, and all its neighbors are estimated from the
 * codes in its record, without reading their records (Gou et al., SymphonyQG, SIGMOD 2025). A node gets one estimate from each
 * expanded node that links to it. The search uses the mean of the estimates that are within the bound of the found nodes,
 * and pushes the node as a candidate again whenever the mean falls. This takes as many expansions as a search with exact distances;
 * using the least estimate takes a quarter more, using the first twice as many. The source includes float_body.h first, and defines
 *   sum_run(codes, table, groups, sums)   adds the table entries of `groups` groups to each neighbor's sum; at most MAX_IN_RUN
 *                                         groups, so that the partial sums fit 16 bits, and a multiple of four. `sums` is 64-byte
 *                                         aligned
 *   SEARCH_ESTIMATES                      the name of the function to define
 */
#include <float.h>

#define MAX_IN_RUN 256
#define EXPANDED (-1)
/* Max bytes of a record to prefetch: the hardware prefetcher fetches the rest once the beginning is read. */
#define MAX_OF_RECORD (32 * CACHE_LINE)
/* Outdated candidates dropped in the time of an expansion. */
#define DROPPED_PER_EXPANSION 8
INLINE float measure_one(const struct search *search, const int inner_product, int32_t node) {
    const float *row = vector(search->image, node);
    vec sums[4] = {vec_zero(), vec_zero(), vec_zero(), vec_zero()};
    int64_t whole = search->image->dimension / LANES * LANES;
    for (int64_t at = 0; at < whole; at += LANES) {
        vec q = vec_load(search->query + at);
        vec r = vec_load(row + at);
        vec d = inner_product ? r : vec_sub(q, r);
        sums[0] = vec_fma(inner_product ? q : d, d, sums[0]);
    }
    int rest = (int)(search->image->dimension - whole);
    if (rest > 0) {
        vec q = vec_load(search->query + whole);
        vec r = vec_load_part(row + whole, rest);
        vec d = inner_product ? r : vec_sub(q, r);
        sums[0] = vec_fma(inner_product ? q : d, d, sums[0]);
    }
    float distances[4];
    fold_four(sums, distances);
    return inner_product ? 0.0f - distances[0] : distances[0];
}

/* Prefetches a record, the neighbors first, because they are read first. */
INLINE void prefetch_record(const struct image *image, int64_t node) {
    const uint8_t *at = record(image, node);
    for (int64_t line = 0; line < image->degree * (int64_t)sizeof(int32_t); line += CACHE_LINE) {
        __builtin_prefetch(at + image->links_in + line);
    }
    const int64_t bytes = image->links_in < MAX_OF_RECORD ? image->links_in : MAX_OF_RECORD;
    for (int64_t line = 0; line < bytes; line += CACHE_LINE) __builtin_prefetch(at + line);
}

/* The blocks of a node's record, which are contiguous. */
INLINE const uint8_t *blocks(const struct image *image, int64_t node) {
    const int64_t vector_bytes = (int64_t)image->dimension * sizeof(float);
    return record(image, node) + (vector_bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

/* The estimated distances of a block's neighbors from the query, given the node's distance. */
INLINE void estimate_block(const struct search *search, const uint8_t *block, int32_t length, float distance,
                           float *estimates) {
    uint32_t sums[BLOCK] __attribute__((aligned(64))) = {0};
    const int32_t groups = length / GROUP;
    for (int32_t from = 0; from < groups; from += MAX_IN_RUN) {
        const int32_t count = groups - from < MAX_IN_RUN ? groups - from : MAX_IN_RUN;
        sum_run(block + (int64_t)from * GROUP_BYTES, search->table + (int64_t)from * GROUP_BYTES, count, sums);
    }
    const float *add = (const float *)(block + (int64_t)length * BLOCK / 8);
    const float *multiply = add + BLOCK;
    const float slope = search->slope;
    const float offset = search->offset;
    for (int32_t i = 0; i < BLOCK; i++) {
        estimates[i] = distance + (add[i] + multiply[i] * (slope * (float)(int32_t)sums[i] - offset));
    }
}

/* Adds an estimate to a node; returns whether to push the node as a candidate: the estimate is the first, or lowers the mean. */
INLINE int learn(struct estimate *known, float estimate) {
    const int lowers = known->count == 0 || estimate * (float)known->count < known->sum;
    known->sum += estimate;
    known->count++;
    return lowers;
}

INLINE void search_by_estimates(const struct search *search, const int inner_product) {
    const struct image *image = search->image;
    struct progress *progress = search->progress;
    struct estimate *known = search->estimates;
    int64_t *candidates = search->candidates;
    int32_t *log = search->log;
    const int32_t degree = image->degree;
    const int32_t length = code_length(image->dimension);
    const int64_t block_bytes = (int64_t)length * BLOCK / 8 + 2 * BLOCK * sizeof(float);
    const uint32_t nodes = (uint32_t)image->nodes;
    int64_t left = progress->left * DROPPED_PER_EXPANSION;
    int64_t waiting = progress->waiting;
    int64_t logged = progress->logged;
    int32_t size = progress->size;
    int over = 0;

    while (left > 0) {
        over = waiting == 0;
        if (over) break;
        const int64_t nearest = pop_nearest(candidates, waiting--);
        over = size == search->width && nearest > search->found[0];
        if (over) break;
        left--;
        const int32_t node = node_of(nearest);
        struct estimate *own = known + node;
        if (own->count == EXPANDED) continue;
        const int64_t now = key(own->sum / (float)own->count, node);
        if (now > nearest) {
            if (size < search->width || now < search->found[0]) push_nearest(candidates, waiting++, now);
            continue;
        }
        const int32_t *list = neighbors(image, node);
        /* Once the heap is full, most estimates are beyond its bound and are not stored. */
        if (size < search->width) {
            for (int32_t i = 0; i < degree; i++) __builtin_prefetch(known + (list[i] < 0 ? node : list[i]));
        }
        if (waiting > 0) prefetch_record(image, node_of(candidates[0]));
        left -= DROPPED_PER_EXPANSION - 1;
        progress->expanded++;
        progress->computed++;
        own->count = EXPANDED;
        const float distance = measure_one(search, inner_product, node);
        if (allows(search, node)) size = keep(search, size, key(distance, node));
        const int64_t bound = size == search->width ? search->found[0] : INT64_MAX;
        const uint8_t *block = blocks(image, node);
        float estimates[BLOCK] __attribute__((aligned(64)));
        for (int32_t i = 0; i < degree; i++) {
            const uint32_t neighbor = (uint32_t)list[i];
            /* As unsigned, one comparison catches both the -1 after the last neighbor and a node out of range. */
            if (neighbor >= nodes) {
                if (list[i] < 0) break;
                progress->logged = logged;
                progress->phase = DAMAGED;
                return;
            }
            if (i % BLOCK == 0) {
                estimate_block(search, block, length, distance, estimates);
                block += block_bytes;
            }
            const float estimate = estimates[i % BLOCK];
            if (key(estimate, (int32_t)neighbor) > bound) continue;
            struct estimate *other = known + neighbor;
            if (other->count == EXPANDED) continue;
            if (other->count == 0) log[logged++] = (int32_t)neighbor;
            if (!learn(other, estimate)) continue;
            const int64_t entry = key(other->sum / (float)other->count, (int32_t)neighbor);
            if (entry <= bound && waiting < CANDIDATES_PER_NODE * logged) push_nearest(candidates, waiting++, entry);
        }
    }

    progress->left = left <= 0 ? 0 : left / DROPPED_PER_EXPANSION;
    progress->waiting = waiting;
    progress->logged = logged;
    progress->size = size;
    progress->next = 0;
    if (over && progress->phase == SEARCHING) progress->phase = FORGETTING;
}

/* Starts at the result of the greedy descent, whose estimate is set so low that it is expanded first. */
void SEARCH_ESTIMATES(const struct search *search) {
    struct progress *progress = search->progress;
    if (progress->phase < SEARCHING) {
        descend(search);
        if (progress->phase == SEARCHING) search->estimates[search->log[0]] = (struct estimate){-FLT_MAX, 1};
    }
    if (progress->phase != SEARCHING) return;
    if (search->inner_product) {
        search_by_estimates(search, 1);
    } else {
        search_by_estimates(search, 0);
    }
}
