/**
 * Filling of stalls with maintenance. A stall is the time in which a worker has only searches that wait for bytes. The classes decide how
 * much maintenance runs in it; clock readings and measurements are passed in.
 */
@NullMarked
package io.github.roost.core.stall;

import org.jspecify.annotations.NullMarked;
