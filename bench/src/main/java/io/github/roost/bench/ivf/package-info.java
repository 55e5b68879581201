/** Roost's IVF tables beside FAISS. */
@NullMarked
package io.github.roost.bench.ivf;

import org.jspecify.annotations.NullMarked;
