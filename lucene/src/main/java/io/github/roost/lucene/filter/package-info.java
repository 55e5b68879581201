/** Filters of several searches at once, for search engines on Lucene. */
@NullMarked
package io.github.roost.lucene.filter;

import org.jspecify.annotations.NullMarked;
