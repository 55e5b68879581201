/** Changes of a pool: the writer with its lease and log, rebuilt pairs, and copies. */
@NullMarked
package io.github.roost.index.remote.update;

import org.jspecify.annotations.NullMarked;
