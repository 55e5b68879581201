/** A Lucene vector format whose graphs Roost searches, and what goes with it. */
@NullMarked
package io.github.roost.lucene;

import org.jspecify.annotations.NullMarked;
