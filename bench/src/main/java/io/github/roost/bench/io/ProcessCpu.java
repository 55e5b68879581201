package io.github.roost.bench.io;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * CPU time of this process, those of its threads that live: the JVM's own figure counts ticks of 10 ms on Linux, of which a short
 * slice has few. Stateless.
 */
final class ProcessCpu {
    private static final Path TASKS = Path.of("/proc/self/task");

    private ProcessCpu() {}

    /** Nanoseconds so far; a difference means something as long as no thread has ended in between. */
    static long nanos() {
        long sum = 0;
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(TASKS)) {
            for (Path task : tasks) {
                sum += nanos(task);
            }
            return sum;
        } catch (IOException noProc) {
            return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
        }
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
