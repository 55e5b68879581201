/** Benchmarks of Roost's IVF tables, compared with FAISS. */
@NullMarked
package io.github.roost.bench.ivf;

import org.jspecify.annotations.NullMarked;
