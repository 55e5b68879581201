/**
 * The module's native border: every function of hwloc and of the C library that it calls, and nothing else.
 *
 * <p>Native addresses stay in here; what comes out are bit sets, numbers and strings.
 */
@NullMarked
package io.github.roost.topology.hwloc;

import org.jspecify.annotations.NullMarked;
