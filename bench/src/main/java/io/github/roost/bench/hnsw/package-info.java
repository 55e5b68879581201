/** Roost's HNSW tables beside plain jvector and hnswlib. */
@NullMarked
package io.github.roost.bench.hnsw;

import org.jspecify.annotations.NullMarked;
