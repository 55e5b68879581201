/** The scan of one run of rows for a group of queries: in C through the foreign function interface, or in Java. */
@NullMarked
package io.github.roost.index.ivf.kernel;

import org.jspecify.annotations.NullMarked;
