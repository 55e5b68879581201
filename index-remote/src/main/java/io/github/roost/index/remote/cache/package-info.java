/** The cache of partitions, and the thread that fetches into it. */
@NullMarked
package io.github.roost.index.remote.cache;

import org.jspecify.annotations.NullMarked;
