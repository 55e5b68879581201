/** Vectors of files that the command line and the service read, whatever their format. */
@NullMarked
package io.github.roost.examples.input;

import org.jspecify.annotations.NullMarked;
