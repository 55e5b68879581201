/** Tables served by several processes: the protocol that keeps batches of one version, and how versions are rolled out. */
@NullMarked
package io.github.roost.tableservice;

import org.jspecify.annotations.NullMarked;
