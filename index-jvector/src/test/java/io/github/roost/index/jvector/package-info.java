@NullMarked
package io.github.roost.index.jvector;

import org.jspecify.annotations.NullMarked;
