/* Scans of 8-bit and of 4-bit codes compared: gcc -O3 -mavx512f -mavx512dq -mavx512bw -mavx512vnni four-bit-lists.c -o four-bit-lists */
#include <immintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/mman.h>
#define TILE 16
enum { DIM = 128, ROWS = 976, LISTS = 1024 };
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
static void ahead(const uint8_t *p, int64_t bytes) { for (int64_t i = 0; i < bytes; i += 64) __builtin_prefetch(p + 4096 + i); }
static inline __attribute__((always_inline)) void eight(const uint8_t *codes, const int8_t *w, int q, int32_t *out) {
    __m512i s[16];
    for (int i = 0; i < q * 2; i++) s[i] = _mm512_setzero_si512();
    for (int at = 0; at < DIM; at += 4) {
        __m512i a = _mm512_loadu_si512(codes + at * TILE), b = _mm512_loadu_si512(codes + TILE * DIM + at * TILE);
#pragma GCC unroll 8
        for (int i = 0; i < q; i++) {
            int32_t f; memcpy(&f, w + i * DIM + at, 4); __m512i x = _mm512_set1_epi32(f);
            s[2 * i] = _mm512_dpbusd_epi32(s[2 * i], a, x); s[2 * i + 1] = _mm512_dpbusd_epi32(s[2 * i + 1], b, x);
        }
    }
    for (int i = 0; i < q * 2; i++) _mm512_storeu_si512(out + i * 16, s[i]);
}
static inline __attribute__((always_inline)) void fourbit(const uint8_t *codes, const int8_t *w, int q, int32_t *out) {
    __m512i s[16]; const __m512i low = _mm512_set1_epi8(15);
    for (int i = 0; i < q * 2; i++) s[i] = _mm512_setzero_si512();
    for (int at = 0; at < DIM; at += 8) {
        __m512i a = _mm512_loadu_si512(codes + at / 2 * TILE), b = _mm512_loadu_si512(codes + TILE * DIM / 2 + at / 2 * TILE);
        __m512i a0 = _mm512_and_si512(a, low), a1 = _mm512_and_si512(_mm512_srli_epi16(a, 4), low);
        __m512i b0 = _mm512_and_si512(b, low), b1 = _mm512_and_si512(_mm512_srli_epi16(b, 4), low);
#pragma GCC unroll 8
        for (int i = 0; i < q; i++) {
            int32_t f, g; memcpy(&f, w + i * DIM + at, 4); memcpy(&g, w + i * DIM + at + 4, 4);
            __m512i x = _mm512_set1_epi32(f), y = _mm512_set1_epi32(g);
            s[2 * i] = _mm512_dpbusd_epi32(s[2 * i], a0, x); s[2 * i] = _mm512_dpbusd_epi32(s[2 * i], a1, y);
            s[2 * i + 1] = _mm512_dpbusd_epi32(s[2 * i + 1], b0, x); s[2 * i + 1] = _mm512_dpbusd_epi32(s[2 * i + 1], b1, y);
        }
    }
    for (int i = 0; i < q * 2; i++) _mm512_storeu_si512(out + i * 16, s[i]);
}
static inline __attribute__((always_inline)) int near(const int32_t *sums, int q, int32_t bound) {
    int n = 0;
    for (int i = 0; i < q * 2; i++) n += __builtin_popcount(_mm512_cmplt_epi32_mask(_mm512_loadu_si512(sums + i * 16), _mm512_set1_epi32(bound)));
    return n;
}
#define SCAN(NAME, F, BYTES) \
    static inline __attribute__((always_inline)) int NAME##_(const uint8_t *list, const int8_t *w, const int q) { \
        int32_t out[256]; int n = 0; \
        for (int t = 0; t + 1 < ROWS / TILE; t += 2) { ahead(list + (int64_t)t * TILE * BYTES, 2 * TILE * BYTES); F(list + (int64_t)t * TILE * BYTES, w, q, out); n += near(out, q, -2000000); } \
        return n; } \
    static __attribute__((noinline)) int NAME(const uint8_t *list, const int8_t *w, int q) { \
        return q == 1 ? NAME##_(list, w, 1) : q == 2 ? NAME##_(list, w, 2) : q == 4 ? NAME##_(list, w, 4) : NAME##_(list, w, 8); }
SCAN(scan8, eight, DIM)
SCAN(scan4, fourbit, DIM / 2)
int main(void) {
    int64_t bytes = (int64_t)LISTS * ROWS * DIM;
    uint8_t *c = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(c, bytes, MADV_HUGEPAGE);
    uint64_t r = 1; for (int64_t i = 0; i < bytes; i++) { r = r * 6364136223846793005ull + 1; c[i] = r >> 56; }
    int8_t w[8 * DIM]; for (int i = 0; i < 8 * DIM; i++) w[i] = (i * 37) % 255 - 127;
    int qs[] = {1, 2, 4, 8}; volatile int sink = 0;
    for (int round = 0; round < 5; round++) for (int k = 0; k < 4; k++) {
        int q = qs[k]; double t[2];
        for (int kind = 0; kind < 2; kind++) {
            double b = now(); uint32_t l = 7;
            for (int i = 0; i < 8000; i++) { l = l * 1664525u + 1013904223u; int list = (l >> 10) % LISTS;
                sink += kind ? scan4(c + (int64_t)list * ROWS * DIM / 2, w, q) : scan8(c + (int64_t)list * ROWS * DIM, w, q); }
            t[kind] = (now() - b) / 8000 / q * 1e6;
        }
        printf("round %d, %d queries per scan: us per query and list: 8 bits %.2f, 4 bits %.2f, ratio %.2f\n", round, q, t[0], t[1], t[0] / t[1]);
    }
}
