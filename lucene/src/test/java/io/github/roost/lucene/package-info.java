@NullMarked
package io.github.roost.lucene;

import org.jspecify.annotations.NullMarked;
