/** How to use Roost in a program. */
@NullMarked
package io.github.roost.cli.embedding;

import org.jspecify.annotations.NullMarked;
