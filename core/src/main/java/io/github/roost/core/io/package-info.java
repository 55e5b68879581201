/**
 * Direct reads of 4-KiB blocks, for searches that park until their blocks are read; start at
 * {@link io.github.roost.core.io.BlockIo}.
 */
@NullMarked
package io.github.roost.core.io;

import org.jspecify.annotations.NullMarked;
