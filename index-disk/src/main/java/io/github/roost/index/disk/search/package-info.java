/** Searches of a table on disk, by its graph and by an exact scan; internal. */
@NullMarked
package io.github.roost.index.disk.search;

import org.jspecify.annotations.NullMarked;
