/* AVX2: tiles of 1 query x 4 rows fill half of the 16 registers. */
#include "vec_avx2.h"

#include "scan_near.h"

#define TILE_QUERIES 1
#define SCAN scan_avx2
#define PICKS picks_avx2
#define BOUND bound_avx2
#define KEEP keep_avx2
#define ORDER order_avx2
#include "scan_body.h"
