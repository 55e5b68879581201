/**
 * The policies of filling stalls with maintenance, and statistics of stalls. A stall is the time in which a worker has only searches that wait
 * for bytes.
 */
@NullMarked
package io.github.roost.core.stall;

import org.jspecify.annotations.NullMarked;
