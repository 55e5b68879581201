@NullMarked
package io.github.roost.tableservice.etcd;

import org.jspecify.annotations.NullMarked;
