/** The mapper's decisions: first homes, and whether the traffic of a window justifies a remap by a policy of {@code core.mapping}. */
@NullMarked
package io.github.roost.core.remap;

import org.jspecify.annotations.NullMarked;
