/** {@code LongTable} beside other ways to place colliding keys, and beside other libraries' maps. */
@NullMarked
package io.github.roost.bench.table;

import org.jspecify.annotations.NullMarked;
