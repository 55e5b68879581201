package io.github.roost.cli.demo;

import io.github.roost.cli.Streams;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.OverloadPolicy;
import io.github.roost.simulator.options.CommandFailure;
import io.github.roost.testkit.packages.DebianPackages;
import io.github.roost.topology.TopologyReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** The demo: reads the machine and the data, starts the workers, runs the {@link DemoSteps} and joins the workers. */
public final class Demo {
    private static final int SHORT_WINDOWS = 20;
    private static final int SHORT_PER_LONG = 5;
    private static final Duration ROOM = Duration.ofSeconds(30);
    private static final int RING = 1 << 14;
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(10);
    private static final Duration THREAD_END = Duration.ofSeconds(2);

    private final DemoSettings settings;
    private final Streams streams;

    /** @param streams for progress and, in text mode, the report */
    public Demo(DemoSettings settings, Streams streams) {
        this.settings = settings;
        this.streams = streams;
    }

    /** Runs the demo. The orchestrator is closed on return, and by a shutdown hook if the process is told to end meanwhile. */
    public DemoReport run() throws IOException, InterruptedException {
        long began = System.nanoTime();
        DebianPackages everything = DebianPackages.read(settings.data());
        int sections = everything.sections().size();
        if (settings.tables() > sections) {
            throw new CommandFailure("--tables must be between 1 and the number of sections, " + sections + ", got "
                    + settings.tables());
        }
        DebianPackages data = everything.largestSections(settings.tables() == 0 ? sections : settings.tables());
        double loadSeconds = (System.nanoTime() - began) / 1e9;
        Duration window = Duration.ofMillis(1_000L * settings.seconds() / SHORT_WINDOWS);
        Orchestrator orchestrator = orchestrator(window);
        Thread closer = new Thread(() -> orchestrator.close(CLOSE_TIMEOUT), "roost-demo-closer");
        Runtime.getRuntime().addShutdownHook(closer);
        try (orchestrator) {
            DemoSteps steps = new DemoSteps(orchestrator, data, settings, streams);
            DemoReport report = steps.run(loadSeconds, window);
            boolean joined = orchestrator.close(CLOSE_TIMEOUT)
                    && threadsEnded(report.machine().workers());
            steps.text().end(joined);
            return report.withWorkersJoined(joined);
        } finally {
            removeHook(closer);
        }
    }

    private Orchestrator orchestrator(Duration window) {
        TopologyReader reader = settings.synthetic() == null
                ? TopologyReader.live()
                : TopologyReader.synthetic(settings.synthetic()).onThisSystem(true);
        return Orchestrator.builder()
                .topology(reader.read())
                .windows(window, window.multipliedBy(SHORT_PER_LONG))
                .ringCapacity(RING)
                .overloadPolicy(OverloadPolicy.block(ROOM))
                .build();
    }

    /** Returns whether the kernel has removed the workers' threads, which happens a moment after they end in Java. */
    private static boolean threadsEnded(List<WorkerPosition> workers) {
        long end = System.nanoTime() + THREAD_END.toNanos();
        for (WorkerPosition worker : workers) {
            while (worker.tid() >= 0 && Files.exists(Path.of("/proc/self/task/" + worker.tid()))) {
                if (System.nanoTime() - end > 0) {
                    return false;
                }
                LockSupport.parkNanos(Duration.ofMillis(1).toNanos());
            }
        }
        return true;
    }

    private static void removeHook(Thread closer) {
        try {
            Runtime.getRuntime().removeShutdownHook(closer);
        } catch (IllegalStateException alreadyEnding) {
            // The process is shutting down and the hook closes the objects this thread works with: there is nothing to
            // report.
            while (true) {
                LockSupport.park();
            }
        }
    }
}
