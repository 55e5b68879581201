@NullMarked
package io.github.roost.springai;

import org.jspecify.annotations.NullMarked;
