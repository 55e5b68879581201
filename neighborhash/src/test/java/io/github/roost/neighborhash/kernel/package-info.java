@NullMarked
package io.github.roost.neighborhash.kernel;

import org.jspecify.annotations.NullMarked;
