/** Engines of others beside which Roost is measured, and the data that all are given. */
@NullMarked
package io.github.roost.bench.peer;

import org.jspecify.annotations.NullMarked;
