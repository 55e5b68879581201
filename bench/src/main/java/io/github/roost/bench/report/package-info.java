/** One run of the benchmarks and simulations, and the documents that are made of it. */
@NullMarked
package io.github.roost.bench.report;

import org.jspecify.annotations.NullMarked;
