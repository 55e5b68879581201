/**
 * What a new index needs of an orchestrator besides the submission of searches: searches of several slices that park while bytes are under
 * way, batch queues, maintenance, and the safe closing of a table. Programs that only search need none of it.
 */
@NullMarked
package io.github.roost.core.spi;

import org.jspecify.annotations.NullMarked;
