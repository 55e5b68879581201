package io.github.roost.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.testkit.Machines;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Tag("program")
class FailedStartTest {
    /** Room for the stacks of some workers, not of all. */
    private static final String ADDRESS_SPACE_KIB = "8000000";

    @Test
    @Timeout(value = 60, unit = TimeUnit.SECONDS)
    void workersThatHaveStartedEndWhereALaterOneCannot() throws IOException, InterruptedException {
        Process other = new ProcessBuilder(List.of(
                        "sh",
                        "-c",
                        "ulimit -v " + ADDRESS_SPACE_KIB + " && exec \"$0\" \"$@\"",
                        ProcessHandle.current().info().command().orElseThrow(),
                        "-Xss512m",
                        "-Xmx64m",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-XX:ReservedCodeCacheSize=16m",
                        "-XX:CompressedClassSpaceSize=16m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        ManyWorkers.class.getName()))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try {
            assertThat(other.waitFor(30, TimeUnit.SECONDS)).isTrue();
            assertThat(new String(other.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                    .contains("all that had started have ended");
        } finally {
            other.destroyForcibly();
        }
    }

    /** Starts more workers than there is room for, and ends when all of them have ended. */
    static final class ManyWorkers {
        public static void main(String[] arguments) throws InterruptedException {
            AtomicInteger started = new AtomicInteger();
            try {
                Machines.orchestrator(1, 64)
                        .pinner(core -> {
                            started.incrementAndGet();
                            return Machines.unpinned().apply(core);
                        })
                        .build();
            } catch (OutOfMemoryError noMoreThreads) {
                for (Thread worker : workers()) {
                    worker.join();
                }
                System.out.println(started.get() > 0 ? "all that had started have ended" : "none had started");
            }
        }

        private static List<Thread> workers() {
            return Thread.getAllStackTraces().keySet().stream()
                    .filter(thread -> thread.getName().startsWith("roost-worker"))
                    .toList();
        }
    }
}
