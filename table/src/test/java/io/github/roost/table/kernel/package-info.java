@NullMarked
package io.github.roost.table.kernel;

import org.jspecify.annotations.NullMarked;
