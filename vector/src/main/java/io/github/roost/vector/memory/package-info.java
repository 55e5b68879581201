/** Memory of Roost's own indexes: scratch memory of searches, and the limit of a table; internal. */
@NullMarked
package io.github.roost.vector.memory;

import org.jspecify.annotations.NullMarked;
