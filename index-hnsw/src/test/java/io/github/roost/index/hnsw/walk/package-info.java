@NullMarked
package io.github.roost.index.hnsw.walk;

import org.jspecify.annotations.NullMarked;
