/*
 * Every instruction set of this CPU must give the same bits as the portable graph search and scan, for every division of a
 * search into calls. All memory is allocated in its exact size, so that a sanitizer detects reads and writes beyond it. Prints
 * the comparisons; exits with 1 at the first difference.
 */
#include "check.h"
#include "roost_hnsw.h"
#include "tile.h"

enum { HEAD = 4096, WHOLE = 1 << 20 };

static int64_t aligned(int64_t at, int64_t unit) { return (at + unit - 1) / unit * unit; }

static void link_nodes(int32_t *list, int32_t degree, int32_t nodes) {
    const int32_t count = below(degree + 1);
    for (int32_t i = 0; i < degree; i++) list[i] = i < count ? below(nodes) : -1;
}

/* A graph of random links; a node's first neighbor is the next node, so that all can be reached. */
static struct image *random_image(enum content content) {
    const int coded = content == CODES_AND_VECTORS;
    struct image shape = {0};
    shape.version = 2;
    shape.dimension = 1 + below(next() % 8 == 0 ? 1200 : 100);
    shape.degree = 2 + below(40);
    shape.upper_degree = 2 + below(20);
    shape.nodes = shape.rows = 2 + below(200);
    shape.levels = below(3);
    for (int32_t level = 0; level < shape.levels; level++) {
        shape.level_counts[level] = 1 + below(level == 0 ? shape.nodes : shape.level_counts[level - 1]);
    }
    shape.coded = content;
    shape.links_in = (int32_t)(coded ? aligned(shape.dimension, 4) : shape.dimension * 4);
    shape.stride = shape.links_in + 4 * shape.degree;
    if (coded) shape.stride = aligned(shape.stride, CACHE_LINE);
    shape.nodes_at = HEAD;
    shape.upper_at = HEAD + shape.nodes * shape.stride;
    int64_t lists = 0;
    for (int32_t level = 0; level < shape.levels; level++) lists += shape.level_counts[level];
    shape.ids_at = aligned(shape.upper_at + lists * shape.upper_degree * 4, 8);
    shape.terms_at = shape.ids_at + 8 * shape.rows;
    shape.quantizer_at = shape.terms_at + 8 * shape.nodes;
    shape.vectors_at = coded ? aligned(shape.quantizer_at + 4 * shape.dimension, CACHE_LINE) : HEAD;
    shape.vector_stride = coded ? 4 * shape.dimension : shape.stride;
    shape.bytes = coded ? shape.vectors_at + shape.nodes * shape.vector_stride : shape.terms_at;
    uint8_t *memory = room(shape.bytes);
    shape.base = memory;
    memcpy(memory, &shape, sizeof shape);
    for (int64_t node = 0; node < shape.nodes; node++) {
        uint8_t *at = memory + HEAD + node * shape.stride;
        float *vector = (float *)(memory + shape.vectors_at + node * shape.vector_stride);
        for (int32_t i = 0; i < shape.dimension; i++) {
            vector[i] = number();
            if (coded) at[i] = (uint8_t)next();
        }
        int32_t *list = (int32_t *)(at + shape.links_in);
        link_nodes(list, shape.degree, (int32_t)shape.nodes);
        list[0] = (int32_t)((node + 1) % shape.nodes);
        if (coded) {
            float *factors = (float *)(memory + shape.terms_at) + 2 * node;
            factors[0] = number();
            factors[1] = (float)(1 + below(8)) / 64;
        }
    }
    int32_t *upper = (int32_t *)(memory + shape.upper_at);
    for (int32_t level = 0; level < shape.levels; level++) {
        for (int32_t node = 0; node < shape.level_counts[level]; node++, upper += shape.upper_degree) {
            link_nodes(upper, shape.upper_degree, shape.level_counts[level]);
        }
    }
    if (coded) {
        float *center = (float *)(memory + shape.quantizer_at);
        for (int32_t i = 0; i < shape.dimension; i++) center[i] = number();
    }
    return (struct image *)memory;
}

/* The nodes that a search has found, in order, and the number of distances it has computed. */
struct result {
    int32_t size;
    int64_t computed;
    int64_t *found;
};

static void differ(int32_t isa, const char *what, int round) {
    printf("%s differs from portable in %s, round %d\n", NAMES[isa], what, round);
    exit(1);
}

static struct result search(int32_t isa, const struct image *image, const float *query, int32_t inner_product,
                            int32_t width, int32_t reranked, const uint64_t *allowed, int32_t budget, int round) {
    const int64_t words = image->nodes / 64 + 1;
    uint64_t *visited = room(8 * words);
    int64_t *candidates = room(8 * (image->nodes + 1));
    int32_t *log = room(4 * (image->nodes + TILE));
    int8_t *weights = room(MAX_PARTS * MAX_DIMENSIONS);
    struct progress *progress = room(sizeof *progress);
    struct result result = {0, 0, room(8 * (int64_t)width)};
    struct search *arguments = room(sizeof *arguments);
    *arguments = (struct search){.query = query,
                                 .allowed = allowed,
                                 .visited = visited,
                                 .candidates = candidates,
                                 .log = log,
                                 .found = result.found,
                                 .weights = weights,
                                 .progress = progress,
                                 .inner_product = inner_product,
                                 .width = width,
                                 .most_reranked = reranked,
                                 .budget = budget};
    while (roost_hnsw_search(isa, image, image->base, arguments) == 0) {
    }
    for (int64_t i = 0; i < words; i++) {
        if (visited[i] != 0) differ(isa, "marks left behind", round);
    }
    result.size = progress->size;
    result.computed = progress->computed;
    free(visited);
    free(candidates);
    free(log);
    free(weights);
    free(arguments);
    free(progress);
    return result;
}

static struct result scan(int32_t isa, const struct image *image, const float *query, int32_t inner_product,
                          int32_t width, const uint64_t *allowed, int32_t budget) {
    struct progress *progress = room(sizeof *progress);
    struct result result = {0, 0, room(8 * (int64_t)width)};
    struct search arguments = {.query = query,
                               .allowed = allowed,
                               .found = result.found,
                               .progress = progress,
                               .inner_product = inner_product,
                               .width = width,
                               .budget = budget};
    while (roost_hnsw_scan(isa, image, image->base, &arguments, 0, image->nodes) == 0) {
    }
    result.size = progress->size;
    result.computed = progress->computed;
    free(progress);
    return result;
}

static void compare(struct result portable, struct result other, int32_t isa, const char *what, int round) {
    if (portable.size != other.size || portable.computed != other.computed ||
        memcmp(portable.found, other.found, 8 * (size_t)portable.size) != 0) {
        differ(isa, what, round);
    }
    free(other.found);
}

static void check(int32_t isa, enum content content, int round) {
    struct image *image = random_image(content);
    const int32_t inner_product = below(2), width = 1 + below(image->nodes), reranked = 1 + below(width);
    float *query = room(4 * aligned(image->dimension, LANES));
    for (int32_t i = 0; i < image->dimension; i++) query[i] = number();
    /* A component much larger than the others makes the weights fine. */
    const float far[] = {1, 500, 50000, 3e38f};
    query[0] *= far[below(4)];
    uint64_t *allowed = room(8 * (image->nodes / 64 + 1));
    for (int64_t node = 0; node < image->nodes; node++) {
        if (next() % 3 != 0) allowed[node / 64] |= 1ull << (node % 64);
    }
    const uint64_t *filter = round % 2 == 0 ? 0 : allowed;
    const int32_t budget = TILE * (1 + below(16));
    const char *what = content == VECTORS ? "search" : "search over codes";
    struct result whole = search(PORTABLE, image, query, inner_product, width, reranked, filter, WHOLE, round);
    compare(whole, search(PORTABLE, image, query, inner_product, width, reranked, filter, budget, round), PORTABLE,
            what, round);
    compare(whole, search(isa, image, query, inner_product, width, reranked, filter, WHOLE, round), isa, what, round);
    compare(whole, search(isa, image, query, inner_product, width, reranked, filter, budget, round), isa, what, round);
    struct result scanned = scan(PORTABLE, image, query, inner_product, width, filter, WHOLE);
    compare(scanned, scan(isa, image, query, inner_product, width, filter, budget), isa, "scan", round);
    free(scanned.found);
    free(whole.found);
    free(image);
    free(query);
    free(allowed);
}

int main(int count, char **arguments) {
    const int rounds = rounds_of(count, arguments);
    int others = 0;
    for (int32_t isa = PORTABLE; isa <= LAST_ISA; isa++) {
        if (!roost_hnsw_supports(isa)) continue;
        for (int round = 0; round < rounds; round++) {
            check(isa, VECTORS, round);
            check(isa, CODES_AND_VECTORS, round);
        }
        printf("%s as portable: %d rounds of search, search over codes, scan\n", NAMES[isa], rounds);
        others += isa != PORTABLE;
    }
    if (others == 0) printf("this CPU has no other instruction set\n");
    return 0;
}
