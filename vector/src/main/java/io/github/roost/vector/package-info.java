/** The table, request and result that all vector indexes share. */
@NullMarked
package io.github.roost.vector;

import org.jspecify.annotations.NullMarked;
