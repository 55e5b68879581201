/** Modelled caches beneath the real scheduling: cache misses of machines with several L3s, counted by an emulator. */
@NullMarked
package io.github.roost.bench.cachesim;

import org.jspecify.annotations.NullMarked;
