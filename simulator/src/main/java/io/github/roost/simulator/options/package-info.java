/** Options and output that the benchmarks' commands share. */
@NullMarked
package io.github.roost.simulator.options;

import org.jspecify.annotations.NullMarked;
