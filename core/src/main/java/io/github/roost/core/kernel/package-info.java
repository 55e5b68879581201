/**
 * C kernels of index modules: their libraries, the instruction sets that they are written for, and the choice of one. For
 * authors of indexes. The C side is {@code core/src/main/c}: {@code isa.h} numbers and detects the instruction sets, and
 * {@code kernels.mk} builds a library.
 *
 * <p>All native access is this module's: an index needs no {@code --enable-native-access} of its own.
 */
@NullMarked
package io.github.roost.core.kernel;

import org.jspecify.annotations.NullMarked;
