@NullMarked
package io.github.roost.bench.cachesim;

import org.jspecify.annotations.NullMarked;
