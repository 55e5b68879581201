/* NEON: tiles of 1 query x 4 rows fill half of the 32 registers. */
#include "vec_neon.h"

#include "scan_near.h"

#define TILE_QUERIES 1
#define SCAN scan_neon
#define PICKS picks_neon
#define BOUND bound_neon
#define KEEP keep_neon
#define ORDER order_neon
#include "scan_body.h"
