@NullMarked
package io.github.roost.opensearch;

import org.jspecify.annotations.NullMarked;
