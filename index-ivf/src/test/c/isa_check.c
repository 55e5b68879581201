/*
 * Every instruction set of this CPU must give the same bits as the portable scan. All memory is allocated in its exact size, so
 * that a sanitizer detects reads and writes beyond it. Prints the comparisons; exits with 1 at the first difference.
 */
#include <float.h>
#include <math.h>

#include "check.h"
#include "roost_ivf.h"

static void differ(int32_t isa, const char *what, int round) {
    printf("%s differs from portable in %s, round %d\n", NAMES[isa], what, round);
    exit(1);
}

struct pair {
    float distance;
    int64_t id;
};

static int by_distance(const void *a, const void *b) {
    const struct pair *x = a, *y = b;
    if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* The nearest `wanted` of the gathered rows, in order. */
static void nearest(const float *distances, const int64_t *ids, int32_t size, int32_t wanted, struct pair *out) {
    struct pair *all = room(sizeof(struct pair) * (size_t)size);
    for (int32_t i = 0; i < size; i++) {
        all[i].distance = distances[i];
        all[i].id = ids[i];
    }
    qsort(all, (size_t)size, sizeof *all, by_distance);
    for (int32_t i = 0; i < wanted && i < size; i++) out[i] = all[i];
    free(all);
}

static void check_scan(int32_t isa, int round) {
    const int64_t stride = LANES * (1 + below(8));
    const int64_t count = below(60);
    const int32_t queries = 1 + below(9), wanted = 1 + below(12), float16 = below(2), inner_product = below(2);
    const int64_t places = 2 * wanted;
    const size_t row_bytes = (size_t)stride * (float16 ? 2 : 4);
    uint8_t *rows = room(row_bytes * (size_t)count);
    for (int64_t i = 0; i < count * stride; i++) {
        if (float16) {
            /* Finite float16 of either sign. */
            ((uint16_t *)rows)[i] = (uint16_t)(next() & 0xbbff);
        } else {
            ((float *)rows)[i] = number();
        }
    }
    int64_t *ids = room(8 * (size_t)count);
    for (int64_t i = 0; i < count; i++) ids[i] = (int64_t)next();
    float *query = room(4 * (size_t)(queries * stride));
    for (int64_t i = 0; i < queries * stride; i++) query[i] = number();
    int32_t *wants = room(4 * (size_t)queries);
    for (int32_t q = 0; q < queries; q++) wants[q] = wanted;
    struct pair *results[2];
    int32_t found[2] = {0, 0};
    for (int side = 0; side < 2; side++) {
        int32_t *sizes = room(4 * (size_t)queries);
        float *bounds = room(4 * (size_t)queries);
        for (int32_t q = 0; q < queries; q++) bounds[q] = round % 3 == 0 ? 4 : INFINITY;
        float *distances = room(4 * (size_t)(queries * places));
        int64_t *found_ids = room(8 * (size_t)(queries * places));
        struct scan scan = {.queries = query,
                            .wanted = wants,
                            .sizes = sizes,
                            .bounds = bounds,
                            .found_distances = distances,
                            .found_ids = found_ids,
                            .room = places,
                            .count = count,
                            .stride = stride,
                            .query_count = queries,
                            .float16 = float16,
                            .inner_product = inner_product,
                            .bias = inner_product ? 1 : 0};
        roost_ivf_scan(side == 0 ? PORTABLE : isa, rows, ids, &scan);
        results[side] = room(sizeof(struct pair) * (size_t)(queries * wanted));
        for (int32_t q = 0; q < queries; q++) {
            found[side] += sizes[q] < wanted ? sizes[q] : wanted;
            nearest(distances + q * places, found_ids + q * places, sizes[q], wanted, results[side] + q * wanted);
        }
        free(sizes);
        free(bounds);
        free(distances);
        free(found_ids);
    }
    if (found[0] != found[1] || memcmp(results[0], results[1], sizeof(struct pair) * (size_t)(queries * wanted)) != 0) {
        differ(isa, "scan", round);
    }
    const float **places_of = room(sizeof(float *) * (size_t)count);
    const int64_t **ids_of = room(sizeof(int64_t *) * (size_t)count);
    if (!float16) {
        for (int64_t i = 0; i < count; i++) {
            const int64_t row = below((int32_t)count);
            places_of[i] = (const float *)rows + row * stride;
            ids_of[i] = ids + row;
        }
        float *distances[2];
        int64_t *compared[2];
        for (int side = 0; side < 2; side++) {
            distances[side] = room(4 * (size_t)count);
            compared[side] = room(8 * (size_t)count);
            const struct picks picks = {.rows = places_of,
                                        .row_ids = ids_of,
                                        .query = query,
                                        .distances = distances[side],
                                        .ids = compared[side],
                                        .count = count,
                                        .stride = stride,
                                        .inner_product = inner_product,
                                        .bias = 1};
            roost_ivf_compare(side == 0 ? PORTABLE : isa, &picks);
        }
        if (memcmp(distances[0], distances[1], 4 * (size_t)count) != 0 ||
            memcmp(compared[0], compared[1], 8 * (size_t)count) != 0) {
            differ(isa, "compare", round);
        }
        for (int side = 0; side < 2; side++) {
            free(distances[side]);
            free(compared[side]);
        }
    }
    free(places_of);
    free(ids_of);
    free(results[0]);
    free(results[1]);
    free(rows);
    free(ids);
    free(query);
    free(wants);
}

static void check_codes(int32_t isa, int round) {
    const int32_t stride = 4 * (1 + below(60));
    const int32_t tiles = 1 + below(6);
    const int32_t count = tiles * TILE - below(TILE);
    const int32_t queries = 1 + below(9), first = below(tiles) * TILE;
    const int32_t end = first + below(count - first + 1), places = end - first + TILE;
    uint8_t *codes = room((size_t)tiles * TILE * (size_t)stride);
    for (int32_t i = 0; i < tiles * TILE * stride; i++) codes[i] = (uint8_t)next();
    float *terms = room(8 * (size_t)tiles * TILE);
    for (int32_t i = 0; i < 2 * tiles * TILE; i++) terms[i] = number();
    int8_t *weights = room((size_t)(queries * stride));
    int32_t *starts = room(4 * (size_t)queries);
    int32_t *fine = room(4 * (size_t)queries);
    float *bases = room(4 * (size_t)queries), *slopes = room(4 * (size_t)queries), *bounds = room(4 * (size_t)queries);
    for (int32_t q = 0; q < queries; q++) {
        int32_t sum = 0;
        for (int32_t i = 0; i < stride; i++) {
            weights[q * stride + i] = (int8_t)(below(255) - 127);
            sum += weights[q * stride + i];
        }
        starts[q] = -128 * sum;
        bases[q] = number();
        fine[q] = below(4) == 0;
        slopes[q] = number() / 1024;
        bounds[q] = round % 3 == 0 ? INFINITY : number();
    }
    int32_t *found[2], *rows[2];
    float *scores[2];
    for (int side = 0; side < 2; side++) {
        found[side] = room(4 * (size_t)queries);
        rows[side] = room(4 * (size_t)(queries * places));
        scores[side] = room(4 * (size_t)(queries * places));
        struct codes scan = {.weights = weights,
                             .starts = starts,
                             .bases = bases,
                             .low_weights = weights,
                             .low_starts = starts,
                             .fine = fine,
                             .slopes = slopes,
                             .bounds = bounds,
                             .found = found[side],
                             .rows = rows[side],
                             .scores = scores[side],
                             .first = first,
                             .end = end,
                             .count = count,
                             .stride = stride,
                             .query_count = queries,
                             .room = places};
        roost_ivf_scan_codes(side == 0 ? PORTABLE : isa, codes, terms, &scan);
    }
    for (int32_t q = 0; q < queries; q++) {
        const size_t size = 4 * (size_t)found[0][q];
        if (found[0][q] != found[1][q] || memcmp(rows[0] + q * places, rows[1] + q * places, size) != 0 ||
            memcmp(scores[0] + q * places, scores[1] + q * places, size) != 0) {
            differ(isa, "codes", round);
        }
    }
    for (int side = 0; side < 2; side++) {
        free(found[side]);
        free(rows[side]);
        free(scores[side]);
    }
    free(codes);
    free(terms);
    free(weights);
    free(starts);
    free(fine);
    free(bases);
    free(slopes);
    free(bounds);
}

static void check_weights(int32_t isa, int round) {
    const int32_t components = LANES * (1 + below(8)), stride = components - 4 * below(4), queries = 1 + below(9);
    float *query = room(4 * (size_t)(queries * components)), *center = room(4 * (size_t)components);
    for (int32_t i = 0; i < components; i++) center[i] = number();
    for (int32_t i = 0; i < queries * components; i++) query[i] = number() * (round % 3 == 0 ? 1e30f : 1);
    for (int32_t q = 0; q < queries; q++) query[q * components + below(components)] *= below(2) ? 1e3f : 1;
    int8_t *weights[2];
    int32_t *starts[2];
    float *numbers[2];
    for (int side = 0; side < 2; side++) {
        weights[side] = room(2 * (size_t)(queries * stride));
        memset(weights[side], 0, 2 * (size_t)(queries * stride));
        starts[side] = room(12 * (size_t)queries);
        memset(starts[side], 0, 12 * (size_t)queries);
        numbers[side] = room(16 * (size_t)queries);
        const struct codes scan = {.weights = weights[side],
                                   .starts = starts[side],
                                   .slopes = numbers[side],
                                   .bases = numbers[side] + queries,
                                   .lengths = numbers[side] + 2 * queries,
                                   .errors = numbers[side] + 3 * queries,
                                   .low_weights = weights[side] + queries * stride,
                                   .low_starts = starts[side] + queries,
                                   .fine = starts[side] + 2 * queries,
                                   .queries = query,
                                   .center = center,
                                   .stride = stride,
                                   .query_count = queries,
                                   .components = components,
                                   .inner_product = round % 2};
        roost_ivf_weigh(side == 0 ? PORTABLE : isa, &scan);
    }
    if (memcmp(weights[0], weights[1], 2 * (size_t)(queries * stride)) != 0 ||
        memcmp(starts[0], starts[1], 12 * (size_t)queries) != 0 ||
        memcmp(numbers[0], numbers[1], 16 * (size_t)queries) != 0) {
        differ(isa, "weights", round);
    }
    for (int side = 0; side < 2; side++) {
        free(weights[side]);
        free(starts[side]);
        free(numbers[side]);
    }
    free(query);
    free(center);
}

static void check_orders(int32_t isa, int round) {
    const int32_t size = 1 + below(300), wanted = 1 + below(size);
    const float bound = number();
    float *scores[2];
    int64_t *places[2];
    for (int side = 0; side < 2; side++) {
        scores[side] = room(4 * (size_t)size);
        places[side] = room(8 * (size_t)size);
    }
    for (int32_t i = 0; i < size; i++) {
        scores[0][i] = scores[1][i] = number();
        places[0][i] = places[1][i] = (int64_t)next();
    }
    const float certain = round % 2 == 0 ? NAN : number();
    const float within[2] = {roost_ivf_bound(PORTABLE, scores[0], size, certain, wanted),
                             roost_ivf_bound(isa, scores[1], size, certain, wanted)};
    if (memcmp(&within[0], &within[1], sizeof within[0]) != 0) differ(isa, "bound", round);
    int32_t *order[2] = {room(4 * MAX_ORDERED), room(4 * MAX_ORDERED)};
    const int32_t ordered[2] = {roost_ivf_order(PORTABLE, scores[0], size, wanted, order[0]),
                                roost_ivf_order(isa, scores[1], size, wanted, order[1])};
    if (ordered[0] != ordered[1] || (ordered[0] > 0 && memcmp(order[0], order[1], 4 * (size_t)ordered[0]) != 0)) {
        differ(isa, "order", round);
    }
    const int32_t kept[2] = {roost_ivf_keep(PORTABLE, scores[0], places[0], size, bound),
                             roost_ivf_keep(isa, scores[1], places[1], size, bound)};
    if (kept[0] != kept[1] || memcmp(scores[0], scores[1], 4 * (size_t)kept[0]) != 0 ||
        memcmp(places[0], places[1], 8 * (size_t)kept[0]) != 0) {
        differ(isa, "keep", round);
    }
    for (int side = 0; side < 2; side++) {
        free(scores[side]);
        free(places[side]);
        free(order[side]);
    }
}

int main(int count, char **arguments) {
    const int rounds = rounds_of(count, arguments);
    int others = 0;
    for (int32_t isa = PORTABLE; isa <= LAST_ISA; isa++) {
        if (!roost_ivf_supports(isa)) continue;
        for (int round = 0; round < rounds; round++) {
            check_scan(isa, round);
            check_codes(isa, round);
            check_weights(isa, round);
            check_orders(isa, round);
        }
        printf("%s as portable: %d rounds of scan, compare, codes, weights, bound, order, keep\n", NAMES[isa], rounds);
        others += isa != PORTABLE;
    }
    if (others == 0) printf("this CPU has no other instruction set\n");
    return 0;
}
