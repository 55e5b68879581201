/**
 * A discrete-event simulation of a chiplet machine on virtual time: the decision classes of {@code core} run unchanged;
 * cores, caches and memory are modeled. Tasks are traces of real searches.
 */
@NullMarked
package io.github.roost.simulator;

import org.jspecify.annotations.NullMarked;
