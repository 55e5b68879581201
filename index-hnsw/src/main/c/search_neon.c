/* Graph search, scan and insertion with NEON. */
#include "search.h"
#include "vec_neon.h"

#define SEARCH search_neon
#define SCAN scan_neon
#define RERANK rerank_neon
#include "float_body.h"

#define GROUP_QUERIES 2
#define GROUP_ROWS 2
#define SCAN_GROUP scan_group_neon
#include "group_body.h"

INLINE void add_sums(uint16x8_t some, uint32_t *sums) {
    vst1q_u32(sums, vaddw_u16(vld1q_u32(sums), vget_low_u16(some)));
    vst1q_u32(sums + 4, vaddw_high_u16(vld1q_u32(sums + 4), some));
}

INLINE void sum_run(const uint8_t *codes, const uint8_t *table, int32_t groups, uint32_t *sums) {
    uint16x8_t parts[4] = {vdupq_n_u16(0), vdupq_n_u16(0), vdupq_n_u16(0), vdupq_n_u16(0)};
    for (int64_t at = 0; at < (int64_t)groups * GROUP_BYTES; at += GROUP_BYTES) {
        uint8x16_t both = vld1q_u8(codes + at);
        uint8x16_t entries = vld1q_u8(table + at);
        uint8x16_t low = vqtbl1q_u8(entries, vandq_u8(both, vdupq_n_u8(15)));
        uint8x16_t high = vqtbl1q_u8(entries, vshrq_n_u8(both, 4));
        parts[0] = vaddw_u8(parts[0], vget_low_u8(low));
        parts[1] = vaddw_high_u8(parts[1], low);
        parts[2] = vaddw_u8(parts[2], vget_low_u8(high));
        parts[3] = vaddw_high_u8(parts[3], high);
    }
    for (int i = 0; i < 4; i++) add_sums(parts[i], sums + 8 * i);
}

#define SEARCH_ESTIMATES search_estimates_neon
#include "estimate_body.h"

#define INSERT insert_neon
#define TRIM trim_neon
#include "insert_body.h"
