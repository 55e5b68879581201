/* Plain C99. */
#include "tile.h"

INLINE void sum_tile(const uint8_t *const *rows, const int8_t *weights, int64_t bytes, int32_t start, int32_t *sums) {
    for (int row = 0; row < TILE; row++) {
        int32_t sum = start;
        for (int64_t at = 0; at < bytes; at++) sum += (int32_t)rows[row][at] * weights[at];
        sums[row] = sum;
    }
}

#define SEARCH search_codes_portable
#include "code_body.h"

#define INSERT insert_codes_portable
#define TRIM trim_codes_portable
#include "code_insert.h"
