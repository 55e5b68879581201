@NullMarked
package io.github.roost.bench.table;

import org.jspecify.annotations.NullMarked;
