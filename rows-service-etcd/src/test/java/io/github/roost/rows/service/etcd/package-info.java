@NullMarked
package io.github.roost.rows.service.etcd;

import org.jspecify.annotations.NullMarked;
