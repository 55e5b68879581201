/** A hash map with long keys, off the heap. */
@NullMarked
package io.github.roost.neighborhash;

import org.jspecify.annotations.NullMarked;
