/** Roost's tables compared with other libraries at equal recall, each library as an engine over the same rows. */
@NullMarked
package io.github.roost.bench.rivals;

import org.jspecify.annotations.NullMarked;
