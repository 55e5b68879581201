/** The store of documents compared with what a Java program can embed instead. */
@NullMarked
package io.github.roost.bench.stores;

import org.jspecify.annotations.NullMarked;
