/** The command line: one class a subcommand. */
@NullMarked
package io.github.roost.examples.cli;

import org.jspecify.annotations.NullMarked;
