/** A registry of servers of several processes, in etcd. It needs jetcd, an optional dependency of {@code roost-table-service}. */
@NullMarked
package io.github.roost.rows.service.etcd;

import org.jspecify.annotations.NullMarked;
