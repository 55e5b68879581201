@NullMarked
package io.github.roost.table.stress;

import org.jspecify.annotations.NullMarked;
