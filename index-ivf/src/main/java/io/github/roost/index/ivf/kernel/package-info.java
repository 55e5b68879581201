/** The scan of one run of rows for a group of queries: natively, or in Java where no native library can be loaded. */
@NullMarked
package io.github.roost.index.ivf.kernel;

import org.jspecify.annotations.NullMarked;
