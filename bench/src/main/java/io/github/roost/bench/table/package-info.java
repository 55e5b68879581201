/**
 * Benchmarks of hash tables and key-value stores, compared with other placements of colliding keys, other maps and
 * other stores.
 */
@NullMarked
package io.github.roost.bench.table;

import org.jspecify.annotations.NullMarked;
