/** The packages of Debian 12 with their embeddings: a real multi-table data set for the demo, the benchmarks and the service. */
@NullMarked
package io.github.roost.testkit.packages;

import org.jspecify.annotations.NullMarked;
