/** Measurements that the simulator and benchmarks share. */
@NullMarked
package io.github.roost.simulator.measure;

import org.jspecify.annotations.NullMarked;
