@NullMarked
package io.github.roost.neighborhash.stress;

import org.jspecify.annotations.NullMarked;
