/** Files of tables: written whole or not at all, in sections with checksums, and not believed before they are checked. For authors of indexes. */
@NullMarked
package io.github.roost.core.file;

import org.jspecify.annotations.NullMarked;
