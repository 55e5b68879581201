/* The exported functions, which Java binds. */
#ifndef ROOST_TABLE_H
#define ROOST_TABLE_H

#include "lookup.h"

/* Whether this CPU and operating system support the lookup of an instruction set. */
int32_t roost_table_supports(int32_t isa);

/* Arguments as in struct table and find_portable; `isa` must be supported. */
int64_t roost_table_find(int32_t isa, const void *slots, int32_t shift, int64_t seed, const int64_t *keys,
                         int64_t count, int64_t *payloads);

#endif
