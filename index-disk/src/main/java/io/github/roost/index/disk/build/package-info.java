/** Builds the file of a table on disk; internal. */
@NullMarked
package io.github.roost.index.disk.build;

import org.jspecify.annotations.NullMarked;
