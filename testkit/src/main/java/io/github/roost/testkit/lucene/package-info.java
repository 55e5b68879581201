/** A Lucene index of the Debian packages. */
@NullMarked
package io.github.roost.testkit.lucene;

import org.jspecify.annotations.NullMarked;
