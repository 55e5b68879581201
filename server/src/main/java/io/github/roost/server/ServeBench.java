package io.github.roost.server;

import io.github.roost.core.Orchestrator;
import io.github.roost.simulator.measure.Latencies;
import io.github.roost.simulator.measure.Samples;
import io.github.roost.simulator.options.CommandFailure;
import io.github.roost.simulator.options.JsonOutput;
import io.github.roost.simulator.options.NumberOption;
import io.github.roost.simulator.options.Options;
import io.github.roost.simulator.options.RoostHome;
import io.github.roost.testkit.packages.DebianPackages;
import io.github.roost.topology.TopologyReader;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.ToDoubleFunction;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Measures how a service behaves under increasing overload. Each request searches all tables for a phrase. First, as many clients as the service
 * has search slots send one request after another: this gives the capacity. Then requests are sent at fixed times, whether or not earlier ones
 * are answered (an open loop), at a multiple of the capacity; latency counts from the time a request was due. The clients share the process and
 * its CPUs, so the capacity is what they leave.
 */
@Command(name = "serve", description = "Requests answered and shed by the HTTP service, below and above its capacity.")
@SuppressWarnings("NullAway.Init")
public final class ServeBench implements Callable<Integer> {
    /** Connections of the open loop per search slot; the additional ones carry requests that are shed meanwhile. */
    private static final int CONNECTIONS_PER_SEARCH = 4;

    private static final int DIGITS = 3;
    private static final int ANSWERED = 200;
    private static final int SHED = 429;

    private final @Mixin NumberOption seconds = NumberOption.seconds(3, 1, 3_600);

    @Option(
            names = "--load",
            paramLabel = "X",
            split = ",",
            description = "Offered loads, as multiples of the capacity; default 0.5,1,1.5,2.")
    private List<Double> loads = List.of(.5, 1., 1.5, 2.);

    private final @Mixin NumberOption rounds = NumberOption.rounds(5, 1_000);

    @Option(names = "--tables", paramLabel = "N", description = "Use only the N largest sections; default all.")
    private int tables = Integer.MAX_VALUE;

    private final @Mixin JsonOutput output = new JsonOutput();

    private Orchestrator orchestrator;
    private RoostService service;
    private List<byte[]> requests;

    /** All rounds of one load. */
    record Outcome(double timesCapacity, List<Point> rounds) {
        Samples of(ToDoubleFunction<Point> figure) {
            return Samples.of(rounds.stream().map(figure::applyAsDouble).toList());
        }
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        NumberOption.check(seconds, rounds);
        Options.require("--tables", tables, 1, Integer.MAX_VALUE);
        if (loads.isEmpty()) {
            throw new CommandFailure("--load must name at least one load, got none");
        }
        for (double load : loads) {
            if (!(load > 0 && load <= 100)) {
                throw new CommandFailure("--load must be above 0 and at most 100, got " + load);
            }
        }
        DebianPackages all = DebianPackages.read(RoostHome.packages());
        DebianPackages data =
                all.largestSections(Math.min(tables, all.sections().size()));
        output.progress("building " + data.sections().size() + " tables");
        start(data);
        try {
            report(measure());
        } finally {
            service.close();
        }
        return 0;
    }

    private List<Outcome> measure() throws InterruptedException {
        Duration length = Duration.ofSeconds(seconds.value());
        output.progress("warming up");
        at(1, length);
        List<Outcome> outcomes =
                loads.stream().map(load -> new Outcome(load, new ArrayList<>())).toList();
        for (int i = 0; i < rounds.value(); i++) {
            output.progress("round " + (i + 1) + " of " + rounds.value());
            for (Outcome outcome : outcomes) {
                outcome.rounds().add(at(outcome.timesCapacity(), length));
            }
        }
        return outcomes;
    }

    private void report(List<Outcome> outcomes) throws IOException {
        output.line("load  capacity/s  answers over capacity: median (min to max)    shed/s  other/s"
                + "   p50 ms   p99 ms");
        for (Outcome outcome : outcomes) {
            Samples kept = outcome.of(point -> point.goodput() / point.capacity());
            output.format(
                    "%4.1f  %10.0f  %37s %15.0f %8.0f %8.1f %8.1f",
                    outcome.timesCapacity(),
                    outcome.of(Point::capacity).median(),
                    kept.spread("%.2f"),
                    outcome.of(Point::shed).median(),
                    outcome.of(Point::otherwise).median(),
                    outcome.of(point -> point.latencies().p50us()).median() / 1_000,
                    outcome.of(point -> point.latencies().p99us()).median() / 1_000);
        }
        output.print(Map.of("seconds", seconds.value(), "loads", outcomes));
    }

    /**
     * The measurements of one load.
     *
     * @param capacity answers per second, measured just before
     * @param offered requests per second that were due
     * @param sent requests per second sent; less than offered if all connections were waiting
     * @param goodput answers per second
     * @param shed requests per second turned away with 429
     * @param otherwise requests per second with any other outcome
     * @param latencies of the answers
     */
    public record Point(
            double capacity,
            double offered,
            double sent,
            double goodput,
            double shed,
            double otherwise,
            Latencies latencies) {}

    private void start(DebianPackages data) throws IOException {
        orchestrator =
                Orchestrator.builder().topology(TopologyReader.live().read()).build();
        service = new RoostService(orchestrator, ServeSettings.DEFAULT.withPort(0));
        PackageTables packages = new PackageTables(data);
        service.serve(packages.tables(packages.build(orchestrator, table -> {})));
        requests = data.phrases().stream()
                .map(phrase -> BareConnection.post("/search", Json.write(Map.of("like", phrase.text()))))
                .toList();
    }

    /**
     * Measures the capacity, then a load of a multiple of it.
     *
     * @param length of each of the two measurements
     */
    private Point at(double timesCapacity, Duration length) throws InterruptedException {
        int atATime = Endpoints.SEARCHES_PER_WORKER * orchestrator.workers();
        double capacity = run(atATime, 0, Double.POSITIVE_INFINITY, length).goodput();
        return run(CONNECTIONS_PER_SEARCH * atATime, capacity, timesCapacity * capacity, length);
    }

    private Point run(int connections, double capacity, double rate, Duration length) throws InterruptedException {
        Load load = new Load(rate, length);
        try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<?>> running = new ArrayList<>();
            for (int i = 0; i < connections; i++) {
                running.add(clients.submit(() -> {
                    load.ask();
                    return null;
                }));
            }
            for (Future<?> client : running) {
                client.get();
            }
        } catch (ExecutionException e) {
            throw new IllegalStateException(e.getCause());
        }
        return load.outcome(capacity);
    }

    /** One load, shared by its connections: the next request is taken by any free one. */
    private final class Load {
        private final double nanosApart;
        private final long began = System.nanoTime();
        private final long ends;
        private final AtomicLong next = new AtomicLong();
        private final AtomicLong shed = new AtomicLong();
        private final AtomicLong otherwise = new AtomicLong();
        private final Histogram answered = new ConcurrentHistogram(DIGITS);

        Load(double rate, Duration length) {
            this.nanosApart = 1e9 / rate;
            this.ends = began + length.toNanos();
        }

        void ask() throws IOException {
            try (BareConnection connection = new BareConnection(service.port())) {
                while (true) {
                    long number = next.getAndIncrement();
                    // Without a rate, a request is due when its client is free.
                    long due = nanosApart == 0 ? System.nanoTime() : began + (long) (number * nanosApart);
                    if (due - ends >= 0 || System.nanoTime() - ends >= 0) {
                        return;
                    }
                    for (long left = due - System.nanoTime(); left > 0; left = due - System.nanoTime()) {
                        LockSupport.parkNanos(this, left);
                    }
                    book(connection.send(requests.get((int) (number % requests.size()))), due);
                }
            }
        }

        private void book(int status, long due) {
            if (status == ANSWERED) {
                answered.recordValue(System.nanoTime() - due);
            } else {
                (status == SHED ? shed : otherwise).incrementAndGet();
            }
        }

        Point outcome(double capacity) {
            double seconds = (Math.max(ends, System.nanoTime()) - began) / 1e9;
            long good = answered.getTotalCount();
            return new Point(
                    capacity,
                    1e9 / nanosApart,
                    (good + shed.get() + otherwise.get()) / seconds,
                    good / seconds,
                    shed.get() / seconds,
                    otherwise.get() / seconds,
                    Latencies.ofNanos(answered));
        }
    }
}
