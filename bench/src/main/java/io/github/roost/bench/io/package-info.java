/** Block I/O beside what the JDK has. */
@NullMarked
package io.github.roost.bench.io;

import org.jspecify.annotations.NullMarked;
