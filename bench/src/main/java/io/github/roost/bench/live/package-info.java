/** Tables that change, are built and are filtered while they are searched. */
@NullMarked
package io.github.roost.bench.live;

import org.jspecify.annotations.NullMarked;
