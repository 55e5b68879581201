/** Benchmarks of jvector's searches on Roost's workers. */
@NullMarked
package io.github.roost.bench.jvector;

import org.jspecify.annotations.NullMarked;
