/** The registry of servers of several processes, in etcd. It needs jetcd on the class path, which {@code roost-table-service} does not bring. */
@NullMarked
package io.github.roost.tableservice.etcd;

import org.jspecify.annotations.NullMarked;
