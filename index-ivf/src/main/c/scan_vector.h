/*
 * Tiles over vector registers. The includer has defined
 *   VEC, WIDTH               the register type and its number of floats
 *   ZERO(), LOAD(p), FMA(a, b, c), SUB(a, b), SUM(v)
 *   LOAD_TAIL(p, n)          the first n of WIDTH floats, zeros behind
 * Each pair has one accumulator. Sixteen of them keep the multipliers busy, and each row and query is loaded once a tile.
 */
#define DEFINE_TILE(NAME, STEP)                                                          \
    static inline void NAME(const float *queries, const float *rows, int dim, float *out) { \
        VEC acc[16];                                                                     \
        for (int i = 0; i < 16; i++) acc[i] = ZERO();                                    \
        int d = 0;                                                                       \
        for (; d + WIDTH <= dim; d += WIDTH) {                                           \
            VEC row[4];                                                                  \
            for (int j = 0; j < 4; j++) row[j] = LOAD(rows + (long)j * dim + d);         \
            for (int i = 0; i < 4; i++) {                                                \
                VEC query = LOAD(queries + (long)i * dim + d);                           \
                for (int j = 0; j < 4; j++) acc[4 * i + j] = STEP(query, row[j], acc[4 * i + j]); \
            }                                                                            \
        }                                                                                \
        if (d < dim) {                                                                   \
            VEC row[4];                                                                  \
            for (int j = 0; j < 4; j++) row[j] = LOAD_TAIL(rows + (long)j * dim + d, dim - d); \
            for (int i = 0; i < 4; i++) {                                                \
                VEC query = LOAD_TAIL(queries + (long)i * dim + d, dim - d);             \
                for (int j = 0; j < 4; j++) acc[4 * i + j] = STEP(query, row[j], acc[4 * i + j]); \
            }                                                                            \
        }                                                                                \
        for (int i = 0; i < 16; i++) out[i] = SUM(acc[i]);                               \
    }

#define DEFINE_STRIP(NAME, STEP)                                                         \
    static inline void NAME(const float *query, const float *rows, int dim, float *out) { \
        VEC acc[4];                                                                      \
        for (int j = 0; j < 4; j++) acc[j] = ZERO();                                     \
        int d = 0;                                                                       \
        for (; d + WIDTH <= dim; d += WIDTH) {                                           \
            VEC q = LOAD(query + d);                                                     \
            for (int j = 0; j < 4; j++) acc[j] = STEP(q, LOAD(rows + (long)j * dim + d), acc[j]); \
        }                                                                                \
        if (d < dim) {                                                                   \
            VEC q = LOAD_TAIL(query + d, dim - d);                                       \
            for (int j = 0; j < 4; j++)                                                  \
                acc[j] = STEP(q, LOAD_TAIL(rows + (long)j * dim + d, dim - d), acc[j]);  \
        }                                                                                \
        for (int j = 0; j < 4; j++) out[j] = SUM(acc[j]);                                \
    }

#define DEFINE_PAIR(NAME, STEP)                                                          \
    static inline float NAME(const float *query, const float *row, int dim) {            \
        VEC acc = ZERO();                                                                \
        int d = 0;                                                                       \
        for (; d + WIDTH <= dim; d += WIDTH) acc = STEP(LOAD(query + d), LOAD(row + d), acc); \
        if (d < dim) acc = STEP(LOAD_TAIL(query + d, dim - d), LOAD_TAIL(row + d, dim - d), acc); \
        return SUM(acc);                                                                 \
    }

static inline VEC step_l2(VEC query, VEC row, VEC acc) {
    VEC difference = SUB(query, row);
    return FMA(difference, difference, acc);
}

static inline VEC step_dot(VEC query, VEC row, VEC acc) {
    return FMA(query, row, acc);
}

DEFINE_TILE(tile_l2, step_l2)
DEFINE_TILE(tile_dot, step_dot)
DEFINE_STRIP(strip_l2, step_l2)
DEFINE_STRIP(strip_dot, step_dot)
DEFINE_PAIR(pair_l2, step_l2)
DEFINE_PAIR(pair_dot, step_dot)

#define TILE_L2 tile_l2
#define TILE_DOT tile_dot
#define STRIP_L2 strip_l2
#define STRIP_DOT strip_dot
#define PAIR_L2 pair_l2
#define PAIR_DOT pair_dot

#include "scan_body.h"
