/** Benchmarks of homes: the benefit of keeping a table's searches on one cache, and the cost of crossing and remaps. */
@NullMarked
package io.github.roost.bench.locality;

import org.jspecify.annotations.NullMarked;
