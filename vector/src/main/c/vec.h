/*
 * Vectors of floats, one header per instruction set: vec_avx2.h, vec_avx512.h, vec_neon.h, vec_portable.h. Each defines
 *   vec                         LANES floats
 *   vec_zero, vec_load, vec_sub, vec_fma(a, b, sum)
 *   vec_load_part(at, count)    the first `count` lanes, from 1 to LANES - 1, zero in the others
 *   vec_load_float16(at)        LANES float16
 *   fold_four(sums, out)        the sum of each of four vectors' lanes: halves are added, then quarters, and so on
 *
 * Every instruction set sums in the same lanes and folds in the same order, whatever its register width, so that all give the
 * same bits.
 */
#ifndef ROOST_VEC_H
#define ROOST_VEC_H

#include <stdint.h>

#define LANES 16

#ifndef INLINE
#define INLINE static inline __attribute__((always_inline))
#endif

#endif
