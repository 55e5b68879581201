/** What fetching partitions of remote memory once per batch saves. */
@NullMarked
package io.github.roost.bench.remote;

import org.jspecify.annotations.NullMarked;
