/** Workloads of many tables, described by a small file: what is replayed on a machine and simulated on another. */
@NullMarked
package io.github.roost.bench.workload;

import org.jspecify.annotations.NullMarked;
