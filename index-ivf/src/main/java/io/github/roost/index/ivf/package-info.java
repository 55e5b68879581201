/** IVF tables whose searches run on Roost's workers. */
@NullMarked
package io.github.roost.index.ivf;

import org.jspecify.annotations.NullMarked;
