/** Parts of the maps that Roost's own tables use: ids of rows, and readers that a writer waits for. */
@NullMarked
package io.github.roost.neighborhash.spi;

import org.jspecify.annotations.NullMarked;
