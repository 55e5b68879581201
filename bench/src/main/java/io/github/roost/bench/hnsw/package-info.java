/** Benchmarks of Roost's HNSW tables, compared with jvector, hnswlib and other libraries. */
@NullMarked
package io.github.roost.bench.hnsw;

import org.jspecify.annotations.NullMarked;
