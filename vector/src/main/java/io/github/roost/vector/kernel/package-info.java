/**
 * C kernels of index modules: libraries, instruction sets, and the choice of a kernel. The C side is
 * {@code vector/src/main/c}: {@code isa.h} numbers and detects the instruction sets and chooses a kernel by them, and {@code kernels.mk} builds a
 * library.
 *
 * <p>Only this module needs {@code --enable-native-access}; index modules do not.
 */
@NullMarked
package io.github.roost.vector.kernel;

import org.jspecify.annotations.NullMarked;
