/** Everything that can go wrong with a search, at random and for as long as one likes. */
@NullMarked
package io.github.roost.bench.soak;

import org.jspecify.annotations.NullMarked;
