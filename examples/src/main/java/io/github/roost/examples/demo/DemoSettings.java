package io.github.roost.examples.demo;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * What a person may choose about the demo.
 *
 * @param data folder of the data set
 * @param seconds length of the workload, at least 1
 * @param k neighbours a query, at least 1
 * @param tables how many of the largest sections take part, 0 for all
 * @param json whether the report is to be printed as JSON in the end, instead of as text on the way
 * @param synthetic an hwloc synthetic description of pretended domains on the real CPUs, or null for the real ones
 */
public record DemoSettings(
        Path data,
        int seconds,
        int k,
        int tables,
        boolean json,
        @Nullable String synthetic) {}
