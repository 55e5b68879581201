/** The assignment of rows to partitions, and the choice of how many a search visits. */
@NullMarked
package io.github.roost.index.remote.build;

import org.jspecify.annotations.NullMarked;
