/** Benchmarks of the cost of scheduling, compared with the JDK's thread pools. */
@NullMarked
package io.github.roost.bench.scheduling;

import org.jspecify.annotations.NullMarked;
