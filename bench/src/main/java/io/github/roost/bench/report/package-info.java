/** A run of the benchmarks and simulations, and the documents rendered from it. */
@NullMarked
package io.github.roost.bench.report;

import org.jspecify.annotations.NullMarked;
