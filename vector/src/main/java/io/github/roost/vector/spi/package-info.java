/** Building blocks for authors of indexes: scratch memory, table memory at a home, SQ8 quantization, k-means, recall samples. */
@NullMarked
package io.github.roost.vector.spi;

import org.jspecify.annotations.NullMarked;
