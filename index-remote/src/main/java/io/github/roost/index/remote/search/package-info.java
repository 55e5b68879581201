/** The search of a pool: {@link io.github.roost.index.remote.search.RemoteSearch} from request to result. */
@NullMarked
package io.github.roost.index.remote.search;

import org.jspecify.annotations.NullMarked;
