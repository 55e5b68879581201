/** What keeping a table's searches on one core's cache is worth. */
@NullMarked
package io.github.roost.bench.locality;

import org.jspecify.annotations.NullMarked;
