/** Files of tables: their formats, atomic replacement, sections with checksums, and checks of what is read. */
@NullMarked
package io.github.roost.vector.file;

import org.jspecify.annotations.NullMarked;
