/**
 * Cores that a process reserves against others, by OpenHFT's affinity library.
 *
 * <p>That library depends on JNA. {@link io.github.roost.affinity.CpuReservation} uses its lock files only, which load no native code;
 * {@link io.github.roost.affinity.DomainCpuLayout#install} loads JNA and its native library.
 */
@NullMarked
package io.github.roost.affinity;

import org.jspecify.annotations.NullMarked;
