/**
 * Cores that a process reserves against others, by OpenHFT's affinity library.
 *
 * <p>That library depends on JNA. Reservations use its lock files only, which load no native code;
 * {@link io.github.roost.affinity.CpuReservation#installLayout} loads JNA and its native library.
 */
@NullMarked
package io.github.roost.affinity;

import org.jspecify.annotations.NullMarked;
