@NullMarked
package io.github.roost.table;

import org.jspecify.annotations.NullMarked;
