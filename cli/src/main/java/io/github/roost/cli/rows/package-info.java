/** Servers of one table on loopback, and a client that observes them while versions are rolled out. */
@NullMarked
package io.github.roost.cli.rows;

import org.jspecify.annotations.NullMarked;
