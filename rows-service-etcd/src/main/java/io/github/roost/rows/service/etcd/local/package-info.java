/** A process of etcd on this machine, for demonstrations and tests. */
@NullMarked
package io.github.roost.rows.service.etcd.local;

import org.jspecify.annotations.NullMarked;
