/* Plain C, for processors without a kernel of their own: one float at a time. */
#define SCAN roost_scan_portable
#define VEC float
#define WIDTH 1
#define ZERO() 0.0f
#define LOAD(p) (*(p))
#define LOAD_TAIL(p, n) (*(p))
#define SUB(a, b) ((a) - (b))
#define FMA(a, b, c) ((a) * (b) + (c))
#define SUM(v) (v)

#include "scan_vector.h"
