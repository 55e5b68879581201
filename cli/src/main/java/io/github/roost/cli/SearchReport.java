package io.github.roost.cli;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/**
 * The measurements of {@code search} with one k and one effort.
 *
 * @param buildSeconds time to build the index, or null if it was opened
 * @param openSeconds time to open the index, or null if it was built
 * @param queries number of different queries
 * @param k neighbors per query
 * @param effort the effort, such as ef or nprobe
 * @param inFlight queries in flight at a time
 * @param workers number of workers
 * @param qps queries per second
 * @param p50us median latency in microseconds
 * @param p99us 99th percentile in microseconds
 * @param p999us 99.9th percentile in microseconds
 * @param recall recall@k by ordinal, or null without ground truth
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
