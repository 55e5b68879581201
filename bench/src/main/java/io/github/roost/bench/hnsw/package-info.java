/** Benchmarks of building and filtering HNSW tables, and of the graph search itself. */
@NullMarked
package io.github.roost.bench.hnsw;

import org.jspecify.annotations.NullMarked;
