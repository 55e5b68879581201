/** Linux system calls for block I/O. Checks sizes; no address leaves the package. */
@NullMarked
package io.github.roost.io.linux;

import org.jspecify.annotations.NullMarked;
