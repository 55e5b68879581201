/* Insertion by distances of vectors; see insert_body.h. Included after float_body.h. */
#include <string.h>

#include "insert.h"

struct origin {
    /* The node's vector zero-padded to a multiple of LANES, as a query must be; in `room` if it is not. */
    const float *values;
    float room[MAX_DIMENSIONS + LANES] __attribute__((aligned(64)));
};

INLINE void copy_padded(const struct image *image, int64_t node, float *to) {
    memcpy(to, vector(image, node), image->dimension * sizeof(float));
    for (int32_t i = image->dimension; i % LANES != 0; i++) to[i] = 0;
}

INLINE void set_origin(const struct image *image, int64_t node, struct origin *origin) {
    origin->values = vector(image, node);
    if (image->dimension % LANES == 0) return;
    copy_padded(image, node, origin->room);
    origin->values = origin->room;
}

INLINE void measure_from(const struct image *image, const struct origin *origin, const int32_t *nodes,
                         float *distances) {
    measure_tile(image, origin->values, 0, nodes, distances);
}

INLINE void set_query(const struct insert *insert) { copy_padded(insert->build->image, insert->node, insert->query); }

INLINE float shift_of(const struct insert *insert) {
    (void)insert;
    return 0;
}

#include "insert_body.h"
