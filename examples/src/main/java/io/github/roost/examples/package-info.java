/** The command line and the demo. */
@NullMarked
package io.github.roost.examples;

import org.jspecify.annotations.NullMarked;
