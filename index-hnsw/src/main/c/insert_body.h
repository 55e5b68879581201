/*
 * The insertion of a node (Malkov and Yashunin, algorithms 1, 2 and 4), generic over the distances of float_body.h, which must be
 * included first. The including source defines INSERT and TRIM, the names of the functions to define.
 */
#include <sched.h>
#include <string.h>

#include "insert.h"

#define MAX_FLOATS (MAX_DIMENSIONS + LANES)
/* A node's number is less than 2^31, so this bit of an entry is free: it marks entries that were not chosen by an earlier pruning. */
#define FRESH (1ll << 31)
/* Max room of a list, a quarter more than it keeps, plus one new neighbor and padding to whole tiles. */
#define MAX_LISTED (512 + 512 / 4 + 1 + TILE)
/* Polls of a lock between two yields: after as many, its holder may have been preempted. */
#define LOOKS 128

INLINE int64_t upper_list(const struct image *image, int32_t level, int64_t node) {
    int64_t list = node;
    for (int32_t below = 1; below < level; below++) list += image->level_counts[below - 1];
    return list;
}

INLINE int32_t degree_of(const struct image *image, int32_t level) {
    return level == 0 ? image->degree : image->upper_degree;
}

/* Number of neighbors that a list keeps when it is pruned. */
INLINE int32_t kept_in(const struct build *build, int32_t level) {
    return level == 0 ? build->links : build->links / 2;
}

INLINE int32_t *links_of(const struct image *image, int32_t level, int64_t node) {
    return (int32_t *)(level == 0 ? neighbors(image, node) : upper_neighbors(image, level, node));
}

INLINE float *lengths_of(const struct build *build, int32_t level, int64_t node) {
    const struct image *image = build->image;
    if (level == 0) return build->lengths + node * image->degree;
    return build->lengths + image->nodes * image->degree + upper_list(image, level, node) * image->upper_degree;
}

INLINE uint16_t *chosen_of(const struct build *build, int32_t level, int64_t node) {
    return build->chosen + (level == 0 ? node : build->image->nodes + upper_list(build->image, level, node));
}

INLINE int64_t *picked_of(const struct insert *insert, int32_t level) {
    return insert->picked + level * (insert->build->image->degree + 1ll);
}

/* A neighbor, or -1; another thread may be storing it. The acquire makes the neighbor's earlier lists visible. */
INLINE int32_t read_link(const int32_t *link) { return __atomic_load_n(link, __ATOMIC_ACQUIRE); }

INLINE void write_link(int32_t *link, int32_t node) { __atomic_store_n(link, node, __ATOMIC_RELEASE); }

INLINE void take_lock(uint8_t *lock) {
    for (int looks = 0; __atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE); looks++) {
        while (__atomic_load_n(lock, __ATOMIC_RELAXED)) {
            if (++looks % LOOKS == 0) sched_yield();
#if defined(__x86_64__)
            __builtin_ia32_pause();
#endif
        }
    }
}

INLINE void leave_lock(uint8_t *lock) { __atomic_store_n(lock, 0, __ATOMIC_RELEASE); }

/* A node's vector zero-padded to a multiple of LANES, as a query must be; copied to `room` if necessary. */
INLINE const float *padded(const struct image *image, int64_t node, float *room) {
    const float *values = vector(image, node);
    const int32_t dimension = image->dimension;
    if (dimension % LANES == 0) return values;
    memcpy(room, values, dimension * sizeof(float));
    for (int32_t i = dimension; i % LANES != 0; i++) room[i] = 0;
    return room;
}

/*
 * Whether `factor` times the squared distance of a vector to one of `count` nodes is less than `length`. The list has room up to a
 * multiple of TILE.
 */
INLINE int is_covered(const struct search *list_search, const float *values, int32_t *nodes, int32_t count,
                      float factor, float length) {
    struct search search = *list_search;
    search.query = values;
    for (int32_t i = count; i % TILE != 0; i++) nodes[i] = nodes[count - 1];
    for (int32_t i = 0; i < count; i += TILE) {
        float distances[TILE] __attribute__((aligned(16)));
        measure_tile(&search, 0, nodes + i, distances);
        search.progress->left--;
        for (int j = 0; j < TILE; j++) {
            if (distances[j] * factor < length) return 1;
        }
    }
    return 0;
}

/*
 * Prunes a list, with one additional neighbor if `added` is not negative. Neighbors are considered nearest first. The strict rule
 * drops a neighbor that is nearer to a kept one than to the list's node; the relaxed rule fills the remaining places with
 * dropped neighbors that are not nearer to a kept one by the factor. Two neighbors that an earlier pruning chose by the strict
 * rule need not be compared again, so only pairs with a new neighbor are.
 */
static void __attribute__((noinline)) choose_again(const struct build *build, const struct search *search,
                                                   int32_t level, int64_t node, int32_t listed, int64_t added) {
    const struct image *image = build->image;
    const int32_t max = kept_in(build, level);
    int32_t *links = links_of(image, level, node);
    float *lengths = lengths_of(build, level, node);
    uint16_t *chosen = chosen_of(build, level, node);
    int64_t entries[MAX_LISTED];
    int64_t left_out[MAX_LISTED];
    int32_t kept[MAX_LISTED];
    int32_t kept_fresh[MAX_LISTED];
    float room[MAX_FLOATS] __attribute__((aligned(64)));

    const int32_t candidates = listed + (added >= 0);
    for (int32_t i = 0; i < candidates; i++) {
        int64_t entry = i == listed ? added : key(lengths[i], links[i]);
        if (i >= *chosen) entry |= FRESH;
        int32_t at = i;
        for (; at > 0 && (entries[at - 1] & ~FRESH) > (entry & ~FRESH); at--) entries[at] = entries[at - 1];
        entries[at] = entry;
    }
    int32_t count = 0;
    int32_t fresh = 0;
    int32_t out = 0;
    for (int32_t i = 0; i < candidates && count < max; i++) {
        const int32_t candidate = (int32_t)(entries[i] & ~FRESH);
        const float length = distance_of(entries[i]);
        const int is_fresh = (entries[i] & FRESH) != 0;
        const int32_t compared = is_fresh ? count : fresh;
        if (compared > 0) {
            const float *values = padded(image, candidate, room);
            if (is_covered(search, values, is_fresh ? kept : kept_fresh, compared, 1, length)) {
                left_out[out++] = entries[i];
                continue;
            }
        }
        if (is_fresh) kept_fresh[fresh++] = candidate;
        kept[count] = candidate;
        lengths[count] = length;
        count++;
    }
    *chosen = (uint16_t)count;
    for (int32_t i = 0; i < out && count < max; i++) {
        const int32_t candidate = (int32_t)(left_out[i] & ~FRESH);
        const float length = distance_of(left_out[i]);
        const float *values = padded(image, candidate, room);
        if (is_covered(search, values, kept, count, build->factor, length)) continue;
        kept[count] = candidate;
        lengths[count] = length;
        count++;
    }
    const int32_t degree = degree_of(image, level);
    for (int32_t i = 0; i < degree; i++) write_link(links + i, i < count ? kept[i] : -1);
}

/* Adds the new node to the list of one of its neighbors; prunes the list if it is full. */
INLINE void link_back(const struct insert *insert, int32_t level, int64_t entry) {
    const struct build *build = insert->build;
    const int32_t node = node_of(entry);
    const int64_t added = key(distance_of(entry), insert->node);
    const int32_t degree = degree_of(build->image, level);
    int32_t *links = links_of(build->image, level, node);
    take_lock(build->locks + node);
    int32_t count = 0;
    while (count < degree && links[count] >= 0) count++;
    if (count < degree) {
        lengths_of(build, level, node)[count] = distance_of(entry);
        write_link(links + count, insert->node);
    } else {
        choose_again(build, insert->search, level, node, degree, added);
    }
    leave_lock(build->locks + node);
}

/* Links the node and its picked neighbors, from layer 0 up. */
INLINE void link_layers(const struct insert *insert) {
    const struct image *image = insert->build->image;
    struct progress *progress = &insert->insertion->progress;
    while (progress->level <= insert->insertion->top) {
        const int32_t level = progress->level;
        const int64_t *picked = picked_of(insert, level);
        if (progress->next == 0) {
            int32_t *links = links_of(image, level, insert->node);
            float *lengths = lengths_of(insert->build, level, insert->node);
            for (int32_t i = 0; i < picked[0]; i++) {
                lengths[i] = distance_of(picked[1 + i]);
                write_link(links + i, node_of(picked[1 + i]));
            }
        }
        for (; progress->next < picked[0]; progress->next++) {
            if (progress->left <= 0) return;
            progress->left--;
            if (progress->next + 1 < picked[0]) {
                const int32_t ahead = node_of(picked[2 + progress->next]);
                prefetch_bytes((const uint8_t *)links_of(image, level, ahead),
                               degree_of(image, level) * (int64_t)sizeof(int32_t));
            }
            link_back(insert, level, picked[1 + progress->next]);
        }
        progress->level++;
        progress->next = 0;
    }
    progress->phase = INSERTED;
}

/* Picks the node's neighbors in a layer from the found nodes, by the strict, then the relaxed rule of choose_again(). */
INLINE void pick(const struct insert *insert) {
    const struct build *build = insert->build;
    struct insertion *insertion = insert->insertion;
    struct progress *progress = &insertion->progress;
    int64_t *found = insert->search->found;
    const int32_t max = kept_in(build, progress->level);
    int64_t *picked = picked_of(insert, progress->level);
    int32_t nodes[MAX_LISTED];
    float room[MAX_FLOATS] __attribute__((aligned(64)));
    int32_t count = (int32_t)picked[0];
    for (int32_t i = 0; i < count; i++) nodes[i] = node_of(picked[1 + i]);
    for (; insertion->considered < progress->size && count < max; insertion->considered++) {
        if (progress->left <= 0) {
            picked[0] = count;
            return;
        }
        progress->left--;
        const int64_t entry = found[insertion->considered];
        /* FRESH marks entries that have been picked. */
        if (entry & FRESH) continue;
        if (count > 0 && is_covered(insert->search, padded(build->image, node_of(entry), room), nodes, count,
                                    insertion->filling ? build->factor : 1, distance_of(entry))) {
            continue;
        }
        found[insertion->considered] = entry | FRESH;
        nodes[count++] = node_of(entry);
        picked[count] = entry;
    }
    picked[0] = count;
    if (!insertion->filling) {
        *chosen_of(build, progress->level, insert->node) = (uint16_t)count;
        insertion->filling = 1;
        insertion->considered = 0;
        return;
    }
    progress->nearest = picked[1];
    if (progress->level > 0) {
        progress->level--;
        progress->phase = LOOKING;
        progress->waiting = -1;
    } else {
        progress->next = 0;
        progress->phase = LINKING;
    }
}

/* Greedy descent through the layers above the node's own highest layer. */
INLINE void go_down(const struct insert *insert) {
    const struct image *image = insert->build->image;
    struct progress *progress = &insert->insertion->progress;
    int32_t nodes[MAX_LISTED];
    float distances[MAX_LISTED] __attribute__((aligned(64)));
    while (progress->level > insert->insertion->top) {
        if (progress->left <= 0) return;
        const int32_t *list = links_of(image, progress->level, node_of(progress->from)) + progress->next;
        const int32_t max = cut(image->upper_degree, progress->left);
        const int64_t rest = image->upper_degree - progress->next;
        int32_t count = 0;
        while (count < max && count < rest) {
            int32_t other = read_link(list + count);
            if (other < 0) break;
            nodes[count] = other;
            prefetch_row(image, other);
            count++;
        }
        progress->left -= count + 1;
        progress->next += count;
        if (count > 0) {
            measure(insert->search, nodes, count, distances);
            for (int32_t i = 0; i < count; i++) {
                int64_t entry = key(distances[i], nodes[i]);
                if (entry < progress->nearest) progress->nearest = entry;
            }
            if (count == max) continue;
        }
        if (progress->nearest == progress->from) progress->level--;
        progress->from = progress->nearest;
        progress->next = 0;
    }
    progress->waiting = -1;
    progress->phase = LOOKING;
}

/* Starts the search of a layer at the nearest node of the layer above. */
INLINE void enter_layer(const struct insert *insert) {
    const struct search *search = insert->search;
    struct progress *progress = search->progress;
    const int32_t first = node_of(progress->nearest);
    search->visited[first / 64] |= 1ull << (first % 64);
    search->log[0] = first;
    search->candidates[0] = progress->nearest;
    search->found[0] = progress->nearest;
    progress->logged = 1;
    progress->next = 1;
    progress->waiting = 1;
    progress->size = 1;
}

/* As search_layer(), for any layer, and with lists that other threads change. */
INLINE void look(const struct insert *insert) {
    const struct search *search = insert->search;
    const struct image *image = insert->build->image;
    struct progress *progress = search->progress;
    if (progress->waiting < 0) enter_layer(insert);
    const int32_t level = progress->level;
    const int32_t degree = degree_of(image, level);
    uint64_t *visited = search->visited;
    int64_t *candidates = search->candidates;
    int32_t *log = search->log;
    float distances[MAX_LISTED] __attribute__((aligned(64)));
    int64_t left = progress->left;
    int64_t waiting = progress->waiting;
    int64_t logged = progress->logged;
    int64_t next = progress->next;
    int32_t size = progress->size;
    int over = 0;
    while (left > 0) {
        int32_t count = (int32_t)(logged - next);
        if (count == 0) {
            over = waiting == 0;
            if (over) break;
            int64_t nearest = pop_nearest(candidates, waiting--);
            over = size == search->width && nearest > search->found[0];
            if (over) break;
            const int32_t *list = links_of(image, level, node_of(nearest));
            int32_t *fresh = log + next;
            for (int32_t i = 0; i < degree; i++) {
                int32_t node = read_link(list + i);
                if (node < 0) break;
                uint64_t bit = 1ull << (node % 64);
                if (visited[node / 64] & bit) continue;
                visited[node / 64] |= bit;
                if (count < AHEAD) prefetch_row(image, node);
                fresh[count++] = node;
            }
            logged += count;
            left -= LOOK_COST(degree);
            if (count == 0) continue;
        }
        if (__builtin_expect(count > left + search->budget / 4, 0)) count = cut(count, left + search->budget / 4);
        measure(search, log + next, count, distances);
        left -= count;
        for (int32_t i = 0; i < count; i++) {
            int32_t node = log[next + i];
            int64_t entry = key(distances[i], node);
            if (size == search->width && entry > search->found[0]) continue;
            push_nearest(candidates, waiting++, entry);
            prefetch_bytes((const uint8_t *)links_of(image, level, node), degree * (int64_t)sizeof(int32_t));
            size = keep(search, size, entry);
        }
        next += count;
    }
    progress->left = left;
    progress->waiting = waiting;
    progress->logged = logged;
    progress->next = over ? 0 : next;
    progress->size = size;
    if (over) progress->phase = UNMARKING;
}

INLINE void arrive(const struct insert *insert) {
    const struct image *image = insert->build->image;
    struct insertion *insertion = insert->insertion;
    struct progress *progress = &insertion->progress;
    memcpy(insert->query, vector(image, insert->node), image->dimension * sizeof(float));
    for (int32_t i = image->dimension; i % LANES != 0; i++) insert->query[i] = 0;
    insertion->top = 0;
    while (insertion->top < image->levels && insert->node < image->level_counts[insertion->top]) insertion->top++;
    if (insert->node == 0) {
        progress->phase = INSERTED;
        return;
    }
    int32_t nodes[TILE] = {0};
    float distances[TILE] __attribute__((aligned(64)));
    measure(insert->search, nodes, 1, distances);
    progress->from = progress->nearest = key(distances[0], 0);
    progress->level = image->levels;
    progress->next = 0;
    progress->phase = GOING_DOWN;
}

void INSERT(const struct insert *insert) {
    struct progress *progress = &insert->insertion->progress;
    switch (progress->phase) {
        case ARRIVED:
            arrive(insert);
            return;
        case GOING_DOWN:
            go_down(insert);
            return;
        case LOOKING:
            look(insert);
            return;
        case CHOOSING:
            pick(insert);
            return;
        default:
            link_layers(insert);
    }
}

/* Prunes a list to its final max length. */
void TRIM(const struct build *build, const struct search *search, int32_t level, int64_t node) {
    const int32_t *links = links_of(build->image, level, node);
    const int32_t degree = degree_of(build->image, level);
    int32_t count = 0;
    while (count < degree && links[count] >= 0) count++;
    if (count > kept_in(build, level)) choose_again(build, search, level, node, count, -1);
}
