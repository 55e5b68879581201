package io.github.roost.index.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.disk.update.DiskUpdates;
import io.github.roost.io.BlockIo;
import io.github.roost.testkit.Effort;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A process that inserts and deletes, and is killed at a random moment: every update that it has said to be acknowledged is there, of
 * the others each whole or not at all, in the order of those of one id; and the table is as good as one that is built of its rows.
 */
@Tag("program")
@Timeout(value = 600, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class KilledTableTest {
    private static final int KILLS = Effort.times(2);
    private static final int IDS = 1_000;
    private static final int BUILT = 800;
    private static final int DIMENSION = 12;
    private static final int UNDER_WAY = 48;
    private static final int CHANGED_PAGES = 30;
    private static final int K = 10;

    @TempDir
    private Path folder;

    private final Orchestrator orchestrator = Orchestrator.builder().build();
    private final BlockIo io = BlockIo.builder(orchestrator).build();

    @AfterEach
    void close() {
        assertThat(orchestrator.close(Duration.ofSeconds(20))).isTrue();
        io.close();
    }

    /** What update number n is: the same in both processes. */
    private record Change(long id, float @Nullable [] vector) {
        static Change of(int number) {
            Random random = new Random(new SplittableRandom(number).nextLong());
            long id = random.nextInt(IDS);
            return new Change(id, random.nextInt(3) == 0 ? null : vectorOf(1_000_000L + number));
        }
    }

    private static float[] vectorOf(long seed) {
        // Seeds that follow each other give numbers that do not.
        Random random = new Random(new SplittableRandom(seed).nextLong());
        Random center = new Random(random.nextInt(8));
        float[] vector = new float[DIMENSION];
        for (int i = 0; i < DIMENSION; i++) {
            vector[i] = (float) (center.nextGaussian() + .4 * random.nextGaussian());
        }
        return vector;
    }

    /** The process that is killed: a table, and the number of its first update. */
    static final class Updater {
        private Updater() {}

        public static void main(String[] arguments) throws IOException {
            Orchestrator orchestrator = Orchestrator.builder().build();
            BlockIo io = BlockIo.builder(orchestrator).build();
            MutableDiskTable table = DiskTable.open(
                    orchestrator, io, "table", Path.of(arguments[0]), CHANGED_PAGES, DiskUpdates.MAX_LOG_BLOCKS);
            Queue<CompletableFuture<Boolean>> underWay = new ArrayDeque<>();
            int oldest = Integer.parseInt(arguments[1]);
            for (int number = oldest; ; number++) {
                Change change = Change.of(number);
                float[] vector = change.vector();
                underWay.add(vector == null ? table.removeLater(change.id()) : table.putLater(change.id(), vector));
                if (underWay.size() == UNDER_WAY) {
                    underWay.remove().join();
                    // One call of write(2): all of a line is in the pipe, or nothing.
                    System.out.println(oldest);
                    System.out.flush();
                    oldest++;
                }
            }
        }
    }

    @Test
    void whatAKilledProcessHadAcknowledgedIsThereAndNothingElse() throws Exception {
        Path file = folder.resolve("table");
        long[] ids = IntStream.range(0, BUILT).asLongStream().toArray();
        float[][] vectors =
                IntStream.range(0, BUILT).mapToObj(KilledTableTest::vectorOf).toArray(float[][]::new);
        DiskTable.builder().build(orchestrator, io, file, ids, vectors);
        // Of each id the states that it may have: its last acknowledged update, and those after it.
        Map<Long, List<Integer>> may = new HashMap<>();
        Random random = new Random(71);
        int next = 1;
        try (DiskTable reader = DiskTable.openReadOnly(orchestrator, io, "reader", file)) {
            kills(file, may, random, next, reader, vectors);
        }
    }

    private void kills(
            Path file, Map<Long, List<Integer>> may, Random random, int first, DiskTable reader, float[][] built)
            throws Exception {
        int next = first;
        for (int kill = 0; kill < KILLS; kill++) {
            int acknowledged = runAndKill(file, next, random);
            int beyond = Math.max(next - 1, acknowledged) + UNDER_WAY + 1;
            for (int number = next; number <= beyond; number++) {
                List<Integer> states = may.computeIfAbsent(Change.of(number).id(), same -> new ArrayList<>());
                if (number <= acknowledged) {
                    states.clear();
                } else if (states.isEmpty()) {
                    // Or nothing of it was ever done: what the build has left.
                    states.add(0);
                }
                states.add(number);
            }
            next = beyond + 1;
            check(file, may, "after kill " + kill + ", at update " + acknowledged);
            reader.verify();
            for (int row = 0; row < BUILT; row++) {
                assertThat(reader.vector(row))
                        .as("of the checkpoint before the kills")
                        .isEqualTo(built[row]);
            }
        }
    }

    /** Gives the number of the last update that was acknowledged. */
    private int runAndKill(Path file, int first, Random random) throws Exception {
        Process process = new ProcessBuilder(
                        ProcessHandle.current().info().command().orElse("java"),
                        "--enable-native-access=ALL-UNNAMED",
                        "--add-modules=jdk.incubator.vector",
                        "-Xmx256m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Updater.class.getName(),
                        file.toString(),
                        Integer.toString(first))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        int last = first - 1;
        try (BufferedReader lines = process.inputReader()) {
            int until = first + random.nextInt(1_500);
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                last = Integer.parseInt(line);
                if (last >= until) {
                    break;
                }
            }
            assertThat(last)
                    .as("updates that were acknowledged before the kill")
                    .isGreaterThanOrEqualTo(until);
            // A second opener of its table would write over what it writes.
            assertThatThrownBy(() -> DiskTable.open(orchestrator, io, "second", file))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining(file
                            + " is being built or replaced, or open for updates already, in this process or another");
            // Between two acknowledgements as well.
            TimeUnit.NANOSECONDS.sleep(random.nextInt(3_000_000));
            // By its handle: that leaves what it has written to be read.
            process.toHandle().destroyForcibly();
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                last = Integer.parseInt(line);
            }
        } finally {
            process.destroyForcibly().waitFor();
        }
        return last;
    }

    private static float @Nullable [] state(long id, int number) {
        if (number == 0) {
            return id < BUILT ? vectorOf(id) : null;
        }
        return Change.of(number).vector();
    }

    private void check(Path file, Map<Long, List<Integer>> may, String when) throws Exception {
        try (MutableDiskTable table = DiskTable.open(orchestrator, io, "table", file)) {
            List<Long> live = new ArrayList<>();
            List<float[]> rows = new ArrayList<>();
            for (long id = 0; id < IDS; id++) {
                float[] found = table.vector(id);
                long same = id;
                List<Integer> allowed = may.getOrDefault(id, List.of(0));
                // Those that were not done will never be, so what there is now is the only state from here on.
                List<Integer> now = allowed.stream()
                        .filter(number -> Arrays.equals(found, state(same, number)))
                        .toList();
                assertThat(now)
                        .as(when + ", id " + id + " is " + Arrays.toString(found) + ", and may be of " + allowed)
                        .isNotEmpty();
                may.put(id, new ArrayList<>(now));
                if (found != null) {
                    live.add(id);
                    rows.add(found);
                }
            }
            assertThat(table.size()).as(when).isEqualTo(live.size());
            assertThat(table.diskStats().damagedPages()).as(when).isEmpty();
            int lost = 0;
            for (int i = 0; i < live.size(); i++) {
                long[] found = table.search(rows.get(i), K, 200).get().ids();
                assertThat(found).as(when).doesNotHaveDuplicates();
                assertThat(live)
                        .as(when)
                        .containsAll(Arrays.stream(found).boxed().toList());
                lost += found[0] == live.get(i) ? 0 : 1;
            }
            assertThat(lost).as(when + ", rows that are not reached").isLessThanOrEqualTo(live.size() / 1_000);
            Path fresh = folder.resolve("fresh");
            Files.deleteIfExists(fresh);
            DiskTable.builder()
                    .build(
                            orchestrator,
                            io,
                            fresh,
                            live.stream().mapToLong(Long::longValue).toArray(),
                            rows.toArray(float[][]::new));
            try (DiskTable built = DiskTable.openReadOnly(orchestrator, io, "fresh", fresh)) {
                assertThat(recall(table, live, rows)).as(when).isGreaterThan(recall(built, live, rows) - .005);
            }
        }
    }

    private static double recall(DiskTable table, List<Long> live, List<float[]> rows) throws Exception {
        int hits = 0;
        for (int query = 0; query < 100; query++) {
            float[] vector = vectorOf(5_000_000L + query);
            Set<Long> truth = new HashSet<>(IntStream.range(0, live.size())
                    .boxed()
                    .sorted(Comparator.comparingDouble(row -> squaredDistance(vector, rows.get(row))))
                    .limit(K)
                    .map(live::get)
                    .toList());
            for (long id : table.search(vector, K, 100).get().ids()) {
                hits += truth.contains(id) ? 1 : 0;
            }
        }
        return hits / (100.0 * K);
    }

    private static double squaredDistance(float[] a, float[] b) {
        double sum = 0;
        for (int i = 0; i < a.length; i++) {
            sum += (a[i] - (double) b[i]) * (a[i] - (double) b[i]);
        }
        return sum;
    }
}
