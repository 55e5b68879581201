/** Benchmarks of tables on disk. */
@NullMarked
package io.github.roost.bench.disk;

import org.jspecify.annotations.NullMarked;
