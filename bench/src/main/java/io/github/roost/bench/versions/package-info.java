/** Batches of a table whose versions are rolled out, in virtual time. */
@NullMarked
package io.github.roost.bench.versions;

import org.jspecify.annotations.NullMarked;
