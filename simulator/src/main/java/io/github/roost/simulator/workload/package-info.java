/**
 * Workloads of many tables, described by a small JSON file; they are replayed on real machines and simulated on others.
 */
@NullMarked
package io.github.roost.simulator.workload;

import org.jspecify.annotations.NullMarked;
