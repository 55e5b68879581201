@NullMarked
package io.github.roost.index.hnsw.search;

import org.jspecify.annotations.NullMarked;
