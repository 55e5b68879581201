/** The file of a table on disk, and the graph and codes that are read from it; internal. */
@NullMarked
package io.github.roost.index.disk.format;

import org.jspecify.annotations.NullMarked;
