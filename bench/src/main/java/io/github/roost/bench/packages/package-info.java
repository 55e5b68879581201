/** The packages of Debian 12 with their embeddings: the real multi-table data set of the demo, the benchmarks and the service. */
@NullMarked
package io.github.roost.bench.packages;

import org.jspecify.annotations.NullMarked;
