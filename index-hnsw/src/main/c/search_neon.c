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

#define INSERT insert_neon
#define TRIM trim_neon
#include "float_insert.h"
