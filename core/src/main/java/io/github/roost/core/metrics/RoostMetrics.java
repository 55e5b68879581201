package io.github.roost.core.metrics;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.OrchestratorStats;
import io.github.roost.core.OrchestratorStats.DomainStats;
import io.github.roost.core.Registration;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/**
 * Binds an orchestrator's statistics to a Micrometer registry. The number of series depends on the number of cache domains; of tables there are
 * only the measured recalls, for at most {@value #MAX_TABLES} tables, those with the most traffic. Other statistics per table are in
 * {@link OrchestratorStats#tables()}. Snapshots are cached for 200 ms, so a scrape reads about one; the series of a table begin or end one
 * scrape later. Keep a reference to this object: registries reference it weakly. Thread-safe.
 */
public final class RoostMetrics implements MeterBinder {
    /** The maximum number of tables that have series. */
    public static final int MAX_TABLES = 100;

    private static final long SNAPSHOT_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private final Orchestrator orchestrator;
    /** Guarded by this. */
    private OrchestratorStats snapshot;

    private long snapshotNanos;
    /** The measured recall by name of table, the lowest if several tables have the name. Guarded by this. */
    private Map<String, Registration.Recall> recalls;
    /** Guarded by this. */
    private final List<BoundRecalls> bound = new ArrayList<>();

    /** The meters of tables in one registry, by name of table. */
    private record BoundRecalls(MeterRegistry registry, Map<String, List<Meter>> meters) {}

    /**
     * Creates a binder for one orchestrator.
     *
     * @param orchestrator the orchestrator to be measured
     */
    public RoostMetrics(Orchestrator orchestrator) {
        this.orchestrator = orchestrator;
        this.snapshot = orchestrator.stats(MAX_TABLES);
        this.snapshotNanos = System.nanoTime();
        this.recalls = recalls(snapshot);
    }

    private synchronized OrchestratorStats stats() {
        long now = System.nanoTime();
        if (now - snapshotNanos > SNAPSHOT_NANOS) {
            snapshot = orchestrator.stats(MAX_TABLES);
            snapshotNanos = now;
            recalls = recalls(snapshot);
            bound.forEach(this::bindRecalls);
        }
        return snapshot;
    }

    private static Map<String, Registration.Recall> recalls(OrchestratorStats stats) {
        Map<String, Registration.Recall> recalls = new HashMap<>();
        for (OrchestratorStats.TableStats table : stats.tables()) {
            Registration.Recall measured = table.recall();
            if (measured != null) {
                recalls.merge(table.name(), measured, (one, other) -> one.recall() <= other.recall() ? one : other);
            }
        }
        return recalls;
    }

    /** Adds the series of tables whose recall is new, and removes those of tables that have none any more. */
    private void bindRecalls(BoundRecalls in) {
        in.meters().entrySet().removeIf(table -> {
            boolean gone = !recalls.containsKey(table.getKey());
            if (gone) {
                table.getValue().forEach(in.registry()::remove);
            }
            return gone;
        });
        recalls.keySet().forEach(table -> in.meters().computeIfAbsent(table, name -> bindRecall(in.registry(), name)));
    }

    private List<Meter> bindRecall(MeterRegistry registry, String table) {
        return List.of(
                recall(registry, "", table, "Measured recall of the latest searches", Registration.Recall::recall),
                recall(registry, ".low", table, "Lower end of its 95 % confidence interval", Registration.Recall::low),
                recall(
                        registry,
                        ".high",
                        table,
                        "Upper end of its 95 % confidence interval",
                        Registration.Recall::high),
                FunctionCounter.builder(
                                "roost.table.recall.samples",
                                this,
                                self -> self.recall(table, measured -> measured.samples()))
                        .description("Searches that were repeated exactly")
                        .tag("table", table)
                        .register(registry));
    }

    private Gauge recall(
            MeterRegistry registry,
            String suffix,
            String table,
            String description,
            ToDoubleFunction<Registration.Recall> value) {
        return Gauge.builder("roost.table.recall" + suffix, this, self -> self.recall(table, value))
                .description(description)
                .tag("table", table)
                .register(registry);
    }

    private synchronized double recall(String table, ToDoubleFunction<Registration.Recall> value) {
        stats();
        Registration.Recall measured = recalls.get(table);
        return measured == null ? Double.NaN : value.applyAsDouble(measured);
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        tasks(registry, "completed", OrchestratorStats.TaskCounts::completed);
        tasks(registry, "failed", OrchestratorStats.TaskCounts::failed);
        tasks(registry, "cancelled", OrchestratorStats.TaskCounts::cancelled);
        tasks(registry, "expired", OrchestratorStats.TaskCounts::expired);
        tasks(registry, "rejected", OrchestratorStats.TaskCounts::rejected);
        steals(registry, "intra", OrchestratorStats.TaskCounts::intraSteals);
        steals(registry, "cross", OrchestratorStats.TaskCounts::crossSteals);
        for (int domain = 0; domain < stats().domains().size(); domain++) {
            bindDomain(registry, domain);
        }
        gauge(registry, "roost.imbalance", "Largest domain traffic over the mean", OrchestratorStats::imbalance);
        gauge(registry, "roost.mapping.epoch", "Epoch of the mapping in force", OrchestratorStats::epoch);
        counter(registry, "roost.remaps", "Mappings published because traffic shifted", OrchestratorStats::remaps);
        FunctionCounter.builder("roost.remap.moved", this, self -> self.stats().movedBytes())
                .description("Traffic whose home remaps changed")
                .baseUnit("bytes")
                .register(registry);
        gauge(
                registry,
                "roost.broken",
                "1 if an error that is not of a search's own has broken the orchestrator, else 0",
                stats -> stats.broken() ? 1 : 0);
        gauge(
                registry,
                "roost.recall.alarms",
                "Tables whose measured recall is under the alarm level, of those with series",
                stats -> stats.tables().stream()
                        .filter(table ->
                                table.recall() != null && table.recall().alarm())
                        .count());
        gauge(registry, "roost.workers", "Workers", stats -> stats.workers().size());
        gauge(
                registry,
                "roost.workers.pinned",
                "Workers that the kernel keeps on their core",
                stats -> stats.workers().stream()
                        .filter(worker -> worker.pin() != null && worker.pin().pinned())
                        .count());
        synchronized (this) {
            BoundRecalls in = new BoundRecalls(registry, new HashMap<>());
            bound.add(in);
            bindRecalls(in);
        }
    }

    private void tasks(MeterRegistry registry, String outcome, ToDoubleFunction<OrchestratorStats.TaskCounts> count) {
        FunctionCounter.builder(
                        "roost.tasks",
                        this,
                        self -> count.applyAsDouble(self.stats().tasks()))
                .description("Tasks by outcome")
                .tag("outcome", outcome)
                .register(registry);
    }

    private void steals(MeterRegistry registry, String kind, ToDoubleFunction<OrchestratorStats.TaskCounts> count) {
        FunctionCounter.builder(
                        "roost.steals",
                        this,
                        self -> count.applyAsDouble(self.stats().tasks()))
                .description("Tasks taken from another worker, of the same (intra) or another (cross) cache domain")
                .tag("kind", kind)
                .register(registry);
    }

    private void bindDomain(MeterRegistry registry, int domain) {
        String tag = Integer.toString(domain);
        Function<RoostMetrics, DomainStats> of = self -> self.stats().domains().get(domain);
        Gauge.builder("roost.queue.depth", this, self -> of.apply(self).waiting())
                .description("Tasks that wait")
                .tag("domain", tag)
                .register(registry);
        FunctionCounter.builder("roost.traffic", this, self -> of.apply(self).trafficBytes())
                .description("Bytes touched by searches at home in the domain")
                .baseUnit("bytes")
                .tag("domain", tag)
                .register(registry);
        FunctionTimer.builder(
                        "roost.task.wait",
                        this,
                        self -> of.apply(self).timedWaits(),
                        self -> of.apply(self).waitNanos(),
                        TimeUnit.NANOSECONDS)
                .description("Time from submission to start, of tasks with a deadline and of a sample of the others")
                .tag("domain", tag)
                .register(registry);
        FunctionTimer.builder(
                        "roost.task.run",
                        this,
                        self -> of.apply(self).timedRuns(),
                        self -> of.apply(self).runNanos(),
                        TimeUnit.NANOSECONDS)
                .description("Time from start to end")
                .tag("domain", tag)
                .register(registry);
    }

    private void gauge(
            MeterRegistry registry, String name, String description, ToDoubleFunction<OrchestratorStats> value) {
        Gauge.builder(name, this, self -> value.applyAsDouble(self.stats()))
                .description(description)
                .register(registry);
    }

    private void counter(
            MeterRegistry registry, String name, String description, ToDoubleFunction<OrchestratorStats> value) {
        FunctionCounter.builder(name, this, self -> value.applyAsDouble(self.stats()))
                .description(description)
                .register(registry);
    }
}
