package io.github.roost.topology.system;

import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The CPUs that a thread of this process may run on, as the kernel reports them in {@code /proc}. Can be read from any thread.
 *
 * @param tid the thread's id in the operating system
 * @param allowedCpus OS numbers of the CPUs that it may run on, ascending
 */
public record ThreadPlacement(long tid, List<Integer> allowedCpus) {
    private static final Path SELF = Path.of("/proc/thread-self");
    private static final Path TASKS = Path.of("/proc/self/task");
    /** The names of threads in these files may be cut within a character. */
    private static final Charset BYTES = StandardCharsets.ISO_8859_1;

    private static final String ALLOWED = "Cpus_allowed_list:";

    /** Copies the list. */
    public ThreadPlacement {
        allowedCpus = List.copyOf(allowedCpus);
    }

    /**
     * The calling thread's placement; for a virtual thread its carrier's.
     *
     * @return the placement, or empty if there is no {@code /proc}
     */
    public static Optional<ThreadPlacement> current() {
        return read(SELF);
    }

    /**
     * The placement of a thread of this process.
     *
     * @param tid the thread's id in the operating system
     * @return the placement, or empty if this process has no such thread, or there is no {@code /proc}
     */
    public static Optional<ThreadPlacement> of(long tid) {
        return read(TASKS.resolve(Long.toString(tid)));
    }

    private static Optional<ThreadPlacement> read(Path task) {
        try {
            String stat = Files.readString(task.resolve("stat"), BYTES);
            long tid = Long.parseLong(stat.substring(0, stat.indexOf(' ')));
            String allowed = Files.readAllLines(task.resolve("status"), BYTES).stream()
                    .filter(line -> line.startsWith(ALLOWED))
                    .findFirst()
                    .orElseThrow(() -> new IOException("no " + ALLOWED + " in " + task))
                    .substring(ALLOWED.length());
            return Optional.of(new ThreadPlacement(tid, CpuSet.list(CpuSet.parse(allowed))));
        } catch (IOException gone) {
            return Optional.empty();
        }
    }
}
