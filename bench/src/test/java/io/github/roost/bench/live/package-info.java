@NullMarked
package io.github.roost.bench.live;

import org.jspecify.annotations.NullMarked;
