/** Plots as SVG, in light and dark. */
@NullMarked
package io.github.roost.bench.plot;

import org.jspecify.annotations.NullMarked;
