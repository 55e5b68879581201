/** Mathematics of Roost's own indexes: k-means, SQ8 quantization, and the order of the nearest rows; internal. */
@NullMarked
package io.github.roost.vector.math;

import org.jspecify.annotations.NullMarked;
