/** Updates of a table on disk: log, writer, checkpoints; internal. */
@NullMarked
package io.github.roost.index.disk.update;

import org.jspecify.annotations.NullMarked;
