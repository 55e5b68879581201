/** The command line: one class per subcommand. */
@NullMarked
package io.github.roost.examples.cli;

import org.jspecify.annotations.NullMarked;
