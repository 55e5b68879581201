/* Maps floats to ints of the same order; same keys as FloatOrder.java. */
#ifndef ROOST_FLOAT_ORDER_H
#define ROOST_FLOAT_ORDER_H

#include <stdint.h>
#include <string.h>

static inline int32_t key_of_float(float value) {
    int32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits ^ (bits >> 31 & 0x7fffffff);
}

static inline float float_of_key(int32_t key) {
    const int32_t bits = key ^ (key >> 31 & 0x7fffffff);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#endif
