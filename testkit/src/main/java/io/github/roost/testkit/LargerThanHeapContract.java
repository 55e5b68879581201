package io.github.roost.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Orchestrator;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.TableBuild;
import io.github.roost.vector.VectorFile;
import io.github.roost.vector.VectorSource;
import io.github.roost.vector.VectorTable;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A table of more bytes of vectors than the heap holds is built from a file, in a JVM of its own. Indexes extend it with how the build begins; the
 * one on disk does not, since its build holds its graph on the heap.
 */
@Tag("program")
@Timeout(value = 180, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
public abstract class LargerThanHeapContract {
    /** The number of lists or partitions of an index that has them; a search visits all of them. */
    protected static final int PARTS = 40;

    private static final int ROWS = 14_000;
    private static final int DIMENSION = 960;
    private static final int HEAP_MIB = 48;

    @TempDir
    @SuppressWarnings("NullAway.Init")
    private Path folder;

    /** Begins to build the table, whose files are in the folder. */
    protected abstract TableBuild<? extends VectorTable> start(
            Orchestrator orchestrator, Path folder, long[] ids, VectorSource rows);

    private void writeRows() throws IOException {
        assertThat((long) ROWS * DIMENSION * Float.BYTES).isGreaterThan((long) HEAP_MIB << 20);
        SplittableRandom random = new SplittableRandom(24);
        ByteBuffer row = ByteBuffer.allocate(DIMENSION * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        try (FileChannel file = FileChannel.open(
                folder.resolve("rows.fbin"), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            ByteBuffer head = ByteBuffer.allocate(2 * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
            file.write(head.putInt(ROWS).putInt(DIMENSION).flip());
            for (int i = 0; i < ROWS; i++) {
                row.clear();
                for (int component = 0; component < DIMENSION; component++) {
                    // 200 clusters, so that a graph search finds its way.
                    row.putFloat(Math.floorMod(component * 31 + i % 200 * component, 101) + random.nextFloat());
                }
                file.write(row.flip());
            }
        }
    }

    @Test
    void aTableThatTheHeapCannotHoldIsBuiltAndSearched() throws Exception {
        writeRows();
        Process child = new ProcessBuilder(
                        ProcessHandle.current().info().command().orElse("java"),
                        "--enable-native-access=ALL-UNNAMED",
                        "--add-modules=jdk.incubator.vector",
                        "-Djvector.vectorization_provider=panama",
                        "-Xmx" + HEAP_MIB + "m",
                        "-XX:MaxDirectMemorySize=1g",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Build.class.getName(),
                        getClass().getName(),
                        folder.toString())
                .redirectErrorStream(true)
                .start();
        List<String> lines;
        try (BufferedReader output = child.inputReader()) {
            lines = output.lines().toList();
        }
        assertThat(child.waitFor()).as(String.join("\n", lines)).isZero();
        assertThat(lines).contains("found itself");
    }

    /** What the JVM of its own runs. */
    static final class Build {
        private Build() {}

        public static void main(String[] arguments) throws IOException, ReflectiveOperationException {
            var constructor = Class.forName(arguments[0])
                    .asSubclass(LargerThanHeapContract.class)
                    .getDeclaredConstructor();
            constructor.setAccessible(true);
            Path folder = Path.of(arguments[1]);
            try (Orchestrator orchestrator = Orchestrator.builder()
                            .topology(TopologyReader.synthetic("pack:1 l3:1 core:2 pu:1")
                                    .read())
                            .build();
                    VectorFile rows = VectorFile.open(folder.resolve("rows.fbin"));
                    VectorTable table = constructor
                            .newInstance()
                            .start(
                                    orchestrator,
                                    folder,
                                    LongStream.range(0, ROWS).toArray(),
                                    rows)
                            .join()) {
                long found = table.search(rows.row(7), 1, PARTS).join().ids()[0];
                System.out.println(table.size() == ROWS && found == 7 ? "found itself" : "found " + found);
            }
        }
    }
}
