/** Tests of the arrows between modules and packages. */
@NullMarked
package io.github.roost.examples.architecture;

import org.jspecify.annotations.NullMarked;
