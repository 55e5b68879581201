@NullMarked
package io.github.roost.tableservice;

import org.jspecify.annotations.NullMarked;
