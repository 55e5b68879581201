/** The formats of the module's files; internal. */
@NullMarked
package io.github.roost.index.ivf.format;

import org.jspecify.annotations.NullMarked;
