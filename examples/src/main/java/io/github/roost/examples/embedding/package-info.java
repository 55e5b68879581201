/** How to use Roost in a program. */
@NullMarked
package io.github.roost.examples.embedding;

import org.jspecify.annotations.NullMarked;
