/* Graph search, scan and insertion with AVX2. */
#include "search.h"
#include "vec_avx2.h"

#define SEARCH search_avx2
#define SCAN scan_avx2
#define RERANK rerank_avx2
#include "float_body.h"

#define GROUP_QUERIES 1
#define GROUP_ROWS 4
#define SCAN_GROUP scan_group_avx2
#include "group_body.h"

#define INSERT insert_avx2
#define TRIM trim_avx2
#include "float_insert.h"
