@NullMarked
package io.github.roost.bench.versions;

import org.jspecify.annotations.NullMarked;
