/** Tests of the arrows between modules and packages. */
@NullMarked
package io.github.roost.cli.architecture;

import org.jspecify.annotations.NullMarked;
