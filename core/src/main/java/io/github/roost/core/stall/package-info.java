/**
 * What a worker does while its searches wait for bytes and it has nothing else to run, a stall: how much maintenance, and when none.
 * Pure decisions; the clock and what was measured are passed in.
 */
@NullMarked
package io.github.roost.core.stall;

import org.jspecify.annotations.NullMarked;
