/* Graph search, scan and insertion in plain C99. */

/* Which functions to inline is left to the compiler: inlining all of them, of 16 lanes each, takes four times as long to compile. */
#define INLINE static inline
#include "search.h"
#include "vec_portable.h"

#define SEARCH search_portable
#define SCAN scan_portable
#define RERANK rerank_portable
#include "float_body.h"

#define GROUP_QUERIES 1
#define GROUP_ROWS 4
#define SCAN_GROUP scan_group_portable
#include "group_body.h"

#define INSERT insert_portable
#define TRIM trim_portable
#include "float_insert.h"
