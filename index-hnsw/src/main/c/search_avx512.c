/* Graph search, scan and insertion with AVX-512. */
#include "search.h"
#include "vec_avx512.h"

#define SEARCH search_avx512
#define SCAN scan_avx512
#define RERANK rerank_avx512
#include "float_body.h"

#define GROUP_QUERIES 4
#define GROUP_ROWS 4
#define SCAN_GROUP scan_group_avx512
#include "group_body.h"

#define INSERT insert_avx512
#define TRIM trim_avx512
#include "float_insert.h"
