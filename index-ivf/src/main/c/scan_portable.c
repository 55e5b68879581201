/* Plain C99. */
#include "vec_portable.h"

#include "scan_near.h"

#define TILE_QUERIES 1
#define SCAN scan_portable
#define PICKS picks_portable
#define BOUND bound_portable
#define KEEP keep_portable
#define ORDER order_portable
#include "scan_body.h"
