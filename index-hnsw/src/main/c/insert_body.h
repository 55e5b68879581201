/*
 * The insertion of a node (Malkov and Yashunin, algorithms 1, 2 and 4), generic over the distances of float_body.h or code_body.h,
 * which must be included first. The includer, float_insert.h or code_insert.h, defines
 *   struct origin                                     a node that others are compared with
 *   set_origin(image, node, origin)
 *   measure_from(image, origin, nodes, distances)     squared distances of a tile of nodes from the origin
 *   set_query(insert)                                 makes the inserted node the query of its searches
 *   shift_of(insert)                                  what the squared distances from that node are larger than those of measure()
 * The source defines INSERT and TRIM, the names of the functions to define.
 */
#include <math.h>
#include <sched.h>
#include <string.h>

#include "insert.h"

/* A node's number is less than 2^31, so this bit of an entry is free: it marks entries that were not chosen by an earlier pruning. */
#define FRESH (1ll << 31)
/* Polls of a lock between two yields: after as many, its holder may have been preempted. */
#define LOOKS 128
/* Candidates of a new node that may fill the places that the strict rule leaves, the nearest. */
#define MAX_FILLING 128

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
    return (int32_t *)list_of(image, level, node);
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

/*
 * The least squared distance of a node to `count` others, INFINITY if there are none; one that is less than `enough` will do. The list
 * has room up to a multiple of TILE.
 */
INLINE float nearest_of(const struct search *search, int64_t node, int32_t *nodes, int32_t count, float enough) {
    float nearest = INFINITY;
    if (count == 0) return nearest;
    struct origin origin;
    set_origin(search->image, node, &origin);
    for (int32_t i = count; i % TILE != 0; i++) nodes[i] = nodes[count - 1];
    for (int32_t i = 0; i < count && nearest >= enough; i += TILE) {
        float distances[TILE] __attribute__((aligned(16)));
        measure_from(search->image, &origin, nodes + i, distances);
        search->progress->left--;
        for (int j = 0; j < TILE; j++) nearest = distances[j] < nearest ? distances[j] : nearest;
    }
    return nearest;
}

/* Whether a node is nearer to one of `count` others than `length`. */
INLINE int is_covered(const struct search *search, int64_t node, int32_t *nodes, int32_t count, float length) {
    return nearest_of(search, node, nodes, count, length) < length;
}

/* How much nearer a node is than `length`, as a ratio; INFINITY if it is not apart. */
INLINE float cover_by(float distance, float length) { return distance > 0 ? length / distance : INFINITY; }

/*
 * The entry among `count` that is covered least, if at most by the build's max cover; -1 if there is none. Chosen entries have a cover of
 * INFINITY. Gives it that, and the others a larger one if they are nearer to it.
 */
INLINE int32_t take_least_covered(const struct build *build, const struct search *search, const int64_t *entries,
                                  float *covers, int32_t count) {
    int32_t least = 0;
    for (int32_t i = 1; i < count; i++) least = covers[i] < covers[least] ? i : least;
    if (count == 0 || covers[least] > build->max_cover) return -1;
    covers[least] = INFINITY;
    struct origin origin;
    set_origin(search->image, node_of(entries[least] & ~FRESH), &origin);
    for (int32_t i = 0; i < count;) {
        int32_t nodes[TILE];
        int32_t at[TILE];
        int32_t taken = 0;
        for (; i < count && taken < TILE; i++) {
            if (covers[i] == INFINITY) continue;
            nodes[taken] = node_of(entries[i] & ~FRESH);
            at[taken++] = i;
        }
        if (taken == 0) break;
        for (int32_t j = taken; j < TILE; j++) nodes[j] = nodes[0];
        float distances[TILE] __attribute__((aligned(16)));
        measure_from(search->image, &origin, nodes, distances);
        search->progress->left--;
        for (int32_t j = 0; j < taken; j++) {
            const float cover = cover_by(distances[j], distance_of(entries[at[j]]));
            covers[at[j]] = cover > covers[at[j]] ? cover : covers[at[j]];
        }
    }
    return least;
}

/*
 * Prunes a list, with one additional neighbor if `added` is not negative. Neighbors are considered nearest first. The strict rule
 * drops a neighbor that is nearer to a kept one than to the list's node; the remaining places are filled with
 * the dropped neighbors that are least covered: nearer to a kept one by the least ratio, at most by the build's max cover. Two
 * neighbors that an earlier pruning chose by the strict rule need not be compared again, so only pairs with a new neighbor are.
 */
static void __attribute__((noinline)) choose_again(const struct build *build, const struct search *search,
                                                   int32_t level, int64_t node, int32_t listed, int64_t added) {
    const struct image *image = build->image;
    const int32_t max = kept_in(build, level);
    int32_t *links = links_of(image, level, node);
    float *lengths = lengths_of(build, level, node);
    uint16_t *chosen = chosen_of(build, level, node);
    int64_t entries[MAX_NEIGHBORS];
    int64_t left_out[MAX_NEIGHBORS];
    int32_t kept[MAX_NEIGHBORS];
    int32_t kept_fresh[MAX_NEIGHBORS];

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
        if (is_covered(search, candidate, is_fresh ? kept : kept_fresh, compared, length)) {
            left_out[out++] = entries[i];
            continue;
        }
        if (is_fresh) kept_fresh[fresh++] = candidate;
        kept[count] = candidate;
        lengths[count] = length;
        count++;
    }
    *chosen = (uint16_t)count;
    float covers[MAX_NEIGHBORS];
    for (int32_t i = 0; i < out && count < max; i++) {
        const float nearest = nearest_of(search, node_of(left_out[i] & ~FRESH), kept, count, -INFINITY);
        covers[i] = cover_by(nearest, distance_of(left_out[i]));
    }
    while (count < max) {
        const int32_t least = take_least_covered(build, search, left_out, covers, out);
        if (least < 0) break;
        kept[count] = node_of(left_out[least] & ~FRESH);
        lengths[count] = distance_of(left_out[least]);
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

/* Picks the node's neighbors in a layer from the found nodes, as choose_again() does. */
INLINE void pick(const struct insert *insert) {
    const struct build *build = insert->build;
    const struct search *search = insert->search;
    struct insertion *insertion = insert->insertion;
    struct progress *progress = &insertion->progress;
    int64_t *found = search->found;
    /* Not in use between two searches. */
    float *covers = (float *)search->candidates;
    const int32_t max = kept_in(build, progress->level);
    const int32_t filling = progress->size < MAX_FILLING ? progress->size : MAX_FILLING;
    int64_t *picked = picked_of(insert, progress->level);
    int32_t nodes[MAX_NEIGHBORS];
    int32_t count = (int32_t)picked[0];
    for (int32_t i = 0; i < count; i++) nodes[i] = node_of(picked[1 + i]);
    while (progress->left > 0) {
        progress->left--;
        const int32_t i = insertion->considered;
        if (insertion->rule == STRICT && (i == progress->size || count == max)) {
            *chosen_of(build, progress->level, insert->node) = (uint16_t)count;
            insertion->rule = COVERS;
            insertion->considered = 0;
        } else if (insertion->rule == STRICT) {
            insertion->considered++;
            if (is_covered(search, node_of(found[i]), nodes, count, distance_of(found[i]))) continue;
            nodes[count++] = node_of(found[i]);
            picked[count] = found[i];
            /* Marks a picked entry. */
            found[i] |= FRESH;
        } else if (insertion->rule == COVERS && i < filling && count < max) {
            insertion->considered++;
            covers[i] = INFINITY;
            if (found[i] & FRESH) continue;
            covers[i] = cover_by(nearest_of(search, node_of(found[i]), nodes, count, -INFINITY), distance_of(found[i]));
        } else {
            insertion->rule = LEAST_COVERED;
            const int32_t least = count < max ? take_least_covered(build, search, found, covers, filling) : -1;
            if (least < 0) break;
            nodes[count++] = node_of(found[least]);
            picked[count] = found[least];
        }
    }
    picked[0] = count;
    if (progress->left <= 0) return;
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
    const float shift = shift_of(insert);
    int32_t nodes[MAX_NEIGHBORS];
    float distances[MAX_NEIGHBORS] __attribute__((aligned(64)));
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
                int64_t entry = key(distances[i] + shift, nodes[i]);
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

/* Looks for the nearest nodes of a layer. */
INLINE void look(const struct insert *insert) {
    const struct search *search = insert->search;
    if (walk(search, search->progress->level, 1, shift_of(insert))) search->progress->phase = UNMARKING;
}

INLINE void arrive(const struct insert *insert) {
    const struct image *image = insert->build->image;
    struct insertion *insertion = insert->insertion;
    struct progress *progress = &insertion->progress;
    set_query(insert);
    insertion->top = 0;
    while (insertion->top < image->levels && insert->node < image->level_counts[insertion->top]) insertion->top++;
    if (insert->node == 0) {
        progress->phase = INSERTED;
        return;
    }
    int32_t nodes[TILE] = {0};
    float distances[TILE] __attribute__((aligned(64)));
    measure(insert->search, nodes, 1, distances);
    progress->from = progress->nearest = key(distances[0] + shift_of(insert), 0);
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
