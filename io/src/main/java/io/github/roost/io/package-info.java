/**
 * Direct reads of 4-KiB blocks, for searches that park until their blocks are read; start at
 * {@link io.github.roost.io.BlockIo}.
 */
@NullMarked
package io.github.roost.io;

import org.jspecify.annotations.NullMarked;
