@NullMarked
package io.github.roost.index.ivf.kernel;

import org.jspecify.annotations.NullMarked;
