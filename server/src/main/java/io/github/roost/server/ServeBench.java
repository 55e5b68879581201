package io.github.roost.server;

import io.github.roost.core.Orchestrator;
import io.github.roost.simulator.measure.Latencies;
import io.github.roost.testkit.packages.DebianPackages;
import io.github.roost.topology.Topology;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/**
 * Measures how a service behaves under increasing overload. Each request searches all tables for a phrase. First, as many clients as the service
 * has search slots send one request after another: this gives the capacity. Then requests are sent at fixed times, whether or not earlier ones
 * are answered (an open loop), at a multiple of the capacity; latency counts from the time a request was due. The clients share the process and
 * its CPUs, so the capacity is what they leave.
 */
public final class ServeBench implements AutoCloseable {
    /** Connections of the open loop per search slot; the additional ones carry requests that are shed meanwhile. */
    private static final int CONNECTIONS_PER_SEARCH = 4;

    private static final int DIGITS = 3;
    private static final int ANSWERED = 200;
    private static final int SHED = 429;

    private final Orchestrator orchestrator;
    private final RoostService service;
    private final List<byte[]> requests;

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

    /**
     * @param built receives a message per table that is built
     * @throws IOException if temporary files cannot be written
     */
    public ServeBench(DebianPackages data, Topology topology, Consumer<String> built) throws IOException {
        this.orchestrator = Orchestrator.builder().topology(topology).build();
        this.service = new RoostService(orchestrator, ServeSettings.DEFAULT.withPort(0));
        PackageTables packages = new PackageTables(data);
        service.serve(packages.tables(packages.build(orchestrator, table -> built.accept(table.name()))));
        this.requests = data.phrases().stream()
                .map(phrase -> BareConnection.post("/search", Json.write(Map.of("like", phrase.text()))))
                .toList();
    }

    /**
     * Measures the capacity, then a load of a multiple of it.
     *
     * @param length of each of the two measurements
     */
    public Point at(double timesCapacity, Duration length) throws InterruptedException {
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

    @Override
    public void close() {
        service.close();
    }
}
