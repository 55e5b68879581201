/** Benchmarks of block I/O, compared with the JDK's channels. */
@NullMarked
package io.github.roost.bench.io;

import org.jspecify.annotations.NullMarked;
