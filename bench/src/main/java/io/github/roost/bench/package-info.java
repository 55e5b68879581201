/** Workloads, recall and latency measurement shared by the demo, the command line and the benchmarks. */
@NullMarked
package io.github.roost.bench;

import org.jspecify.annotations.NullMarked;
