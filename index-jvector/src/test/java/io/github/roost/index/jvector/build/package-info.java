@NullMarked
package io.github.roost.index.jvector.build;

import org.jspecify.annotations.NullMarked;
