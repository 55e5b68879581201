/** How workers fill the stalls of searches on disk with updates: policies, and the decisions and measurements that they need. */
@NullMarked
package io.github.roost.index.disk.stall;

import org.jspecify.annotations.NullMarked;
