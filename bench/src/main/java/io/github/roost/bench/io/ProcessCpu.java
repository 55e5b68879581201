package io.github.roost.bench.io;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * A snapshot of the CPU time of the threads of this process: the JVM's own figure counts ticks of 10 ms on Linux, too coarse for a short slice.
 * Immutable.
 */
final class ProcessCpu {
    private static final Path TASKS = Path.of("/proc/self/task");
    private static final Path ALL = Path.of("all");

    private final Map<Path, Long> nanosByThread;

    private ProcessCpu(Map<Path, Long> nanosByThread) {
        this.nanosByThread = nanosByThread;
    }

    static ProcessCpu now() {
        Map<Path, Long> nanos = new HashMap<>();
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(TASKS)) {
            for (Path task : tasks) {
                nanos.put(task, nanos(task));
            }
            return new ProcessCpu(nanos);
        } catch (IOException noProc) {
            var process = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
            return new ProcessCpu(Map.of(ALL, process.getProcessCpuTime()));
        }
    }

    /** CPU nanoseconds since {@code before}, of the threads in this snapshot; threads that ended in between are not counted. */
    long nanosSince(ProcessCpu before) {
        long sum = 0;
        for (Map.Entry<Path, Long> thread : nanosByThread.entrySet()) {
            sum += Math.max(0, thread.getValue() - before.nanosByThread.getOrDefault(thread.getKey(), 0L));
        }
        return sum;
    }

    private static long nanos(Path task) throws IOException {
        Path file = task.resolve("schedstat");
        try {
            String[] times = Files.readString(file).split(" ", 2);
            return Long.parseLong(times[0]);
        } catch (IOException ended) {
            if (Files.exists(file)) {
                throw ended;
            }
            return 0;
        }
    }
}
