package io.github.roost.server;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.metrics.RoostMetrics;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Timer;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** The metrics of a service: the orchestrator's and its own. Thread-safe. */
final class ServeMetrics {
    /** Upper bounds of the histogram buckets, in milliseconds. */
    private static final int[] BUCKETS = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000};

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    /** Strong reference, since registries reference the measured objects weakly. */
    private final RoostMetrics orchestrator;

    private final InFlight inFlight;
    private final Timer searches;
    private final RecentTimes recent = new RecentTimes(System::nanoTime);
    private final Map<Integer, Counter> responses = new ConcurrentHashMap<>();

    /**
     * Statistics of a service.
     *
     * @param inFlight requests being answered
     * @param searches searches answered since the start
     * @param shed searches turned away with 429 since the start
     * @param late searches that exceeded their deadline since the start
     * @param p50Millis median time from request to answer of the searches of the last ten seconds, in milliseconds
     * @param p99Millis 99th percentile
     * @param p999Millis 99.9th percentile
     */
    record ServiceStats(
            int inFlight, long searches, long shed, long late, double p50Millis, double p99Millis, double p999Millis) {}

    ServeMetrics(Orchestrator orchestrator, InFlight inFlight) {
        this.inFlight = inFlight;
        this.orchestrator = new RoostMetrics(orchestrator);
        this.orchestrator.bindTo(registry);
        this.searches = Timer.builder("roost.http.search")
                .description("Time from a search request's arrival to its answer")
                .serviceLevelObjectives(
                        Arrays.stream(BUCKETS).mapToObj(Duration::ofMillis).toArray(Duration[]::new))
                .register(registry);
        Gauge.builder("roost.http.in.flight", inFlight, InFlight::requests)
                .description("Requests that are being answered")
                .baseUnit("requests")
                .register(registry);
        for (int status : new int[] {200, 429, 504}) {
            responses(status);
        }
    }

    private Counter responses(int status) {
        return responses.computeIfAbsent(
                status,
                code -> Counter.builder("roost.http.responses")
                        .description("Answers by status")
                        .tag("status", Integer.toString(code))
                        .register(registry));
    }

    void answered(int status) {
        responses(status).increment();
    }

    void searched(long nanos) {
        searches.record(nanos, TimeUnit.NANOSECONDS);
        recent.add(nanos);
    }

    ServiceStats stats() {
        return new ServiceStats(
                inFlight.requests(),
                searches.count(),
                (long) responses(429).count(),
                (long) responses(504).count(),
                recent.millis(50),
                recent.millis(99),
                recent.millis(99.9));
    }

    /** @param accept the scraper's Accept header; OpenMetrics if it asks for it, otherwise Prometheus's text format */
    Reply scrape(String accept) {
        boolean openMetrics = accept.contains("application/openmetrics-text");
        String type = openMetrics
                ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                : "text/plain; version=0.0.4; charset=utf-8";
        return Reply.text(type, registry.scrape(type));
    }

    void close() {
        registry.close();
    }
}
