/** Readers of vector files of all formats that the command line and the service support. */
@NullMarked
package io.github.roost.server.input;

import org.jspecify.annotations.NullMarked;
