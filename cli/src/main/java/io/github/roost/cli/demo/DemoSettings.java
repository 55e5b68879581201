package io.github.roost.cli.demo;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The options of the demo.
 *
 * @param data folder of the data set
 * @param seconds length of the workload, at least 1
 * @param k neighbors per query, at least 1
 * @param tables number of sections to use, largest first; 0 for all
 * @param json whether to print the report as JSON at the end, instead of text along the way
 * @param synthetic an hwloc synthetic description of simulated domains on the real CPUs, or null for the real domains
 */
public record DemoSettings(
        Path data,
        int seconds,
        int k,
        int tables,
        boolean json,
        @Nullable String synthetic) {}
