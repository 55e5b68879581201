@NullMarked
package io.github.roost.rows;

import org.jspecify.annotations.NullMarked;
