package io.github.roost.examples.cli;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What {@code search} measured.
 *
 * @param buildSeconds time to build the index
 * @param queries number of queries, each answered once in the measured pass
 * @param k neighbours a query
 * @param inFlight queries under way at a time
 * @param workers number of workers
 * @param qps queries a second
 * @param p50us median latency in microseconds
 * @param p99us 99th percentile
 * @param p999us 99.9th percentile
 * @param recall recall@k by ordinal, or null without truth
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record SearchReport(
        double buildSeconds,
        int queries,
        int k,
        int inFlight,
        int workers,
        double qps,
        double p50us,
        double p99us,
        double p999us,
        @Nullable Double recall) {
    String text() {
        String measured = String.format(
                Locale.ROOT,
                "built in %.3f s%n%,d queries, k %d, %d in flight on %d workers%n%,.0f queries/s, latency p50 %,.0f us,"
                        + " p99 %,.0f us, p99.9 %,.0f us",
                buildSeconds,
                queries,
                k,
                inFlight,
                workers,
                qps,
                p50us,
                p99us,
                p999us);
        return recall == null
                ? measured
                : measured + System.lineSeparator() + String.format(Locale.ROOT, "recall@%d %.4f", k, recall);
    }
}
