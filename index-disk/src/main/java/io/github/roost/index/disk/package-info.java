/** Tables on disk; {@link io.github.roost.index.disk.DiskTable} is the entry point. */
@NullMarked
package io.github.roost.index.disk;

import org.jspecify.annotations.NullMarked;
