/** HNSW tables whose searches run on Roost's workers. */
@NullMarked
package io.github.roost.index.hnsw;

import org.jspecify.annotations.NullMarked;
