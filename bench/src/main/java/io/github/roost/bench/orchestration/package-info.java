/** Scheduling policies side by side on simulated machines: the paper's figures, and all cells that a default must win. */
@NullMarked
package io.github.roost.bench.orchestration;

import org.jspecify.annotations.NullMarked;
