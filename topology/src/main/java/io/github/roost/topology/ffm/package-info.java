/** Every native call of the module: hwloc and the Linux scheduler, as typed methods. No address leaves the package. */
@NullMarked
package io.github.roost.topology.ffm;

import org.jspecify.annotations.NullMarked;
