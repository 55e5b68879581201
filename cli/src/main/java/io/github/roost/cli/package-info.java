/** The command line: one class per subcommand. */
@NullMarked
package io.github.roost.cli;

import org.jspecify.annotations.NullMarked;
