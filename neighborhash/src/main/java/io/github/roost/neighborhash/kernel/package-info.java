/** The slots of a hash table, and lookups in them: native, or in Java if no native library can be loaded. */
@NullMarked
package io.github.roost.neighborhash.kernel;

import org.jspecify.annotations.NullMarked;
