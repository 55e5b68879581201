/** The machine as packages, NUMA nodes, cache domains, cores and PUs; and the pinning of threads to them. */
@NullMarked
package io.github.roost.topology;

import org.jspecify.annotations.NullMarked;
