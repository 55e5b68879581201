/** Replays workloads on this machine under several schedulings in turn, and tells differences from noise. */
@NullMarked
package io.github.roost.simulator.replay;

import org.jspecify.annotations.NullMarked;
