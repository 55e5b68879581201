/**
 * Reads of 4-KiB blocks past the page cache, for searches that park until their blocks are there: {@link
 * io.github.roost.core.io.BlockIo} is the way in.
 */
@NullMarked
package io.github.roost.core.io;

import org.jspecify.annotations.NullMarked;
