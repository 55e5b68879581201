/** How a program of one's own uses Roost. */
@NullMarked
package io.github.roost.examples.embedding;

import org.jspecify.annotations.NullMarked;
