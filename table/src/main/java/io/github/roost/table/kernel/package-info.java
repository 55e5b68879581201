/** The slots of a table, and lookups in them: natively, or in Java where no native library can be loaded. */
@NullMarked
package io.github.roost.table.kernel;

import org.jspecify.annotations.NullMarked;
