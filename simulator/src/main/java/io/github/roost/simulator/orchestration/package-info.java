/** Comparisons of scheduling policies on simulated machines: the paper's figures, and a matrix of cells that the default should win. */
@NullMarked
package io.github.roost.simulator.orchestration;

import org.jspecify.annotations.NullMarked;
