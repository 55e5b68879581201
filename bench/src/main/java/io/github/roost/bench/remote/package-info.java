/** Benchmarks of remote memory: the savings of fetching each partition once per batch. */
@NullMarked
package io.github.roost.bench.remote;

import org.jspecify.annotations.NullMarked;
