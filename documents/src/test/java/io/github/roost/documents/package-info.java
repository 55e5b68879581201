@NullMarked
package io.github.roost.documents;

import org.jspecify.annotations.NullMarked;
