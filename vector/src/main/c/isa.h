/*
 * The instruction sets that kernels are written for: their numbers, their detection, and the choice of a kernel. Their compiler
 * flags are in kernels.mk.
 */
#ifndef ROOST_ISA_H
#define ROOST_ISA_H

#include <stdint.h>

#if defined(__aarch64__)
#include <sys/auxv.h>
#ifndef HWCAP_ASIMDDP
#define HWCAP_ASIMDDP (1 << 20)
#endif
#endif

/* Same order as InstructionSet.java. */
enum isa { PORTABLE, AVX2, AVX512, NEON };

/* Whether this CPU and operating system run code compiled for an instruction set. */
static inline int32_t cpu_has(int32_t isa) {
    switch (isa) {
        case PORTABLE:
            return 1;
#if defined(__x86_64__)
        case AVX2:
            return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
        case AVX512:
            return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                   __builtin_cpu_supports("avx512bw");
#elif defined(__aarch64__)
        case NEON:
            return 1;
#endif
        default:
            return 0;
    }
}

/* Whether the CPU also has dot-product instructions for bytes: AVX512-VNNI or NEON DotProd. */
static inline int32_t cpu_multiplies_bytes(void) {
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512vnni");
#elif defined(__aarch64__)
    return (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
#else
    return 0;
#endif
}

/*
 * CALL calls the function of an instruction set, which must be supported: NAME_avx512, NAME_avx2, NAME_neon or NAME_portable.
 * CALL_BYTES calls a function that multiplies bytes: NAME_vnni or NAME_dot if the CPU has the instructions, else NAME_avx2 or
 * NAME_neon.
 */
#if defined(__x86_64__)
#define CALL(isa, name, ...)                      \
    ((isa) == AVX512 ? name##_avx512(__VA_ARGS__) \
     : (isa) == AVX2 ? name##_avx2(__VA_ARGS__)   \
                     : name##_portable(__VA_ARGS__))
#define CALL_BYTES(isa, name, ...)                                        \
    ((isa) == AVX512 && cpu_multiplies_bytes() ? name##_vnni(__VA_ARGS__) \
     : (isa) == AVX512 || (isa) == AVX2        ? name##_avx2(__VA_ARGS__) \
                                               : name##_portable(__VA_ARGS__))
#elif defined(__aarch64__)
#define CALL(isa, name, ...) ((isa) == NEON ? name##_neon(__VA_ARGS__) : name##_portable(__VA_ARGS__))
#define CALL_BYTES(isa, name, ...)                           \
    ((isa) != NEON            ? name##_portable(__VA_ARGS__) \
     : cpu_multiplies_bytes() ? name##_dot(__VA_ARGS__)      \
                              : name##_neon(__VA_ARGS__))
#else
#define CALL(isa, name, ...) name##_portable(__VA_ARGS__)
#define CALL_BYTES(isa, name, ...) name##_portable(__VA_ARGS__)
#endif

#endif
