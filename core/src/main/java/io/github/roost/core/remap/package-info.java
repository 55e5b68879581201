/** What the mapper does with policies of {@code core.mapping}: first homes, and whether a window's traffic asks for a remap. */
@NullMarked
package io.github.roost.core.remap;

import org.jspecify.annotations.NullMarked;
