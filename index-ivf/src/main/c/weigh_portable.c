/* Plain C99. */
#include "vec_portable.h"

INLINE vec vec_all(float a) {
    vec all;
    for (int i = 0; i < LANES; i++) all.lane[i] = a;
    return all;
}
INLINE vec vec_limit(vec a, float max) {
    for (int i = 0; i < LANES; i++) a.lane[i] = fminf(fmaxf(a.lane[i], -max), max);
    return a;
}
INLINE vec vec_max_size(vec max, vec a) {
    for (int i = 0; i < LANES; i++) max.lane[i] = fmaxf(max.lane[i], fabsf(a.lane[i]));
    return max;
}
INLINE float vec_largest(vec a) {
    float largest = a.lane[0];
    for (int i = 1; i < LANES; i++) largest = fmaxf(largest, a.lane[i]);
    return largest;
}
INLINE void vec_store_bytes(int8_t *to, vec a) {
    for (int i = 0; i < LANES; i++) to[i] = (int8_t)a.lane[i];
}

#define WEIGH weigh_portable
#include "weigh_body.h"
