/** A load test of live tables, which are changed and built while they are searched. */
@NullMarked
package io.github.roost.bench.live;

import org.jspecify.annotations.NullMarked;
