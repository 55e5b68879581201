/**
 * A chiplet machine on virtual time: the deciding classes of {@code core} run as they are, cores, caches and memory are
 * modelled. Tasks are traces of real searches.
 */
@NullMarked
package io.github.roost.bench.sim;

import org.jspecify.annotations.NullMarked;
