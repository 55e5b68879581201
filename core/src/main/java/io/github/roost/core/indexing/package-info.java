/** Building blocks for authors of indexes: scratch memory, table memory at a home, SQ8 quantization, k-means, recall samples. */
@NullMarked
package io.github.roost.core.indexing;

import org.jspecify.annotations.NullMarked;
