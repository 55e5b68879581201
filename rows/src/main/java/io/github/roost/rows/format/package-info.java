/** The formats of the module's files; internal. */
@NullMarked
package io.github.roost.rows.format;

import org.jspecify.annotations.NullMarked;
