/**
 * The module's native boundary: every function of hwloc and of the C library that the module calls, and nothing else.
 *
 * <p>Native addresses do not leave this package; its API returns bit sets, numbers, strings and memory segments.
 */
@NullMarked
package io.github.roost.topology.hwloc;

import org.jspecify.annotations.NullMarked;
