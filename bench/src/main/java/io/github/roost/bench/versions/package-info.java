/** A simulation of batches on tables whose versions are rolled out, in virtual time. */
@NullMarked
package io.github.roost.bench.versions;

import org.jspecify.annotations.NullMarked;
