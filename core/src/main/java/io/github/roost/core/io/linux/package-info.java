/** Linux's calls for block I/O: all native functions of this module. Checks sizes; no address leaves it. */
@NullMarked
package io.github.roost.core.io.linux;

import org.jspecify.annotations.NullMarked;
