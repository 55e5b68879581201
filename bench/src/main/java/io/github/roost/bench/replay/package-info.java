/** Workloads on the machine at hand: one scheduling after the other, in turns, with what chance explains told apart. */
@NullMarked
package io.github.roost.bench.replay;

import org.jspecify.annotations.NullMarked;
