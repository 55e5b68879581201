@NullMarked
package io.github.roost.index.ivf;

import org.jspecify.annotations.NullMarked;
