/** Plots as SVG, in light and dark. */
@NullMarked
package io.github.roost.simulator.plot;

import org.jspecify.annotations.NullMarked;
