/** The scan of one run of rows for a group of queries: native, or in Java if the native library cannot be loaded. */
@NullMarked
package io.github.roost.index.ivf.kernel;

import org.jspecify.annotations.NullMarked;
