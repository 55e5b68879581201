/** An open pool: its region, its directory, the heartbeat of its node, and this reader's hold on an epoch. */
@NullMarked
package io.github.roost.index.remote.pool;

import org.jspecify.annotations.NullMarked;
