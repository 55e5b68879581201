/** Servers of one table on loopback, and what a client sees while versions are rolled out. */
@NullMarked
package io.github.roost.examples.tableservice;

import org.jspecify.annotations.NullMarked;
