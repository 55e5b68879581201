@NullMarked
package io.github.roost.index.hnsw.graph;

import org.jspecify.annotations.NullMarked;
