package io.github.roost.examples.cli;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/**
 * What {@code search} measured with one k and one effort.
 *
 * @param buildSeconds time to build the index, or null where it was opened
 * @param openSeconds time to open the index, or null where it was built
 * @param queries number of different queries
 * @param k neighbours per query
 * @param effort ef or nprobe
 * @param inFlight queries under way at a time
 * @param workers number of workers
 * @param qps queries per second
 * @param p50us median latency in microseconds
 * @param p99us 99th percentile
 * @param p999us 99.9th percentile
 * @param recall recall@k by ordinal, or null without truth
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record SearchReport(
        @Nullable Double buildSeconds,
        @Nullable Double openSeconds,
        int queries,
        int k,
        int effort,
        int inFlight,
        int workers,
        double qps,
        double p50us,
        double p99us,
        double p999us,
        @Nullable Double recall) {}
