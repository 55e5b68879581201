/** A randomised soak test of searches and everything that can go wrong with them. */
@NullMarked
package io.github.roost.bench.soak;

import org.jspecify.annotations.NullMarked;
