/** Building blocks for authors of indexes: scratch memory, table memory at a home, recall samples. */
@NullMarked
package io.github.roost.vector.spi;

import org.jspecify.annotations.NullMarked;
