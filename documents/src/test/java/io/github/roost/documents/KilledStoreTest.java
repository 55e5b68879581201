package io.github.roost.documents;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.testkit.ChildJvm;
import io.github.roost.testkit.Effort;
import io.github.roost.vector.SearchRequest;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A process that puts and removes documents, and is killed at a random moment: every change that it has said to be made is there, of the one
 * under way each document whole or not at all, and each document is found by its vector.
 */
@Tag("program")
class KilledStoreTest {
    private static final int KILLS = Effort.times(20);
    private static final int IDS = 6_000;
    private static final int MOST_OF_A_CHANGE = 300;

    @TempDir
    private Path folder;

    /** What change number n is: the same in both processes. The version of a document is the change that put it. */
    private record Change(List<String> ids, boolean isRemoval) {
        static Change of(int number) {
            Random random = new Random(new SplittableRandom(number).nextLong());
            int first = random.nextInt(IDS);
            int count = 1 + (random.nextInt(3) == 0 ? random.nextInt(MOST_OF_A_CHANGE) : random.nextInt(3));
            List<String> ids = IntStream.range(first, Math.min(first + count, IDS))
                    .mapToObj(i -> "d" + i)
                    .toList();
            return new Change(ids, random.nextInt(4) == 0);
        }
    }

    /** The process that is killed: a folder, and the number of its first change. */
    static final class Writer {
        private Writer() {}

        public static void main(String[] arguments) throws IOException {
            DocumentCollection collection =
                    DocumentStore.open(Path.of(arguments[0])).collection("one");
            for (int number = Integer.parseInt(arguments[1]); ; number++) {
                Change change = Change.of(number);
                if (change.isRemoval()) {
                    collection.remove(change.ids());
                } else {
                    int version = number;
                    collection.put(change.ids().stream()
                            .map(id -> MadeUpDocuments.document(id, version))
                            .toList());
                }
                System.out.println(number);
                System.out.flush();
            }
        }
    }

    @Test
    void whatAKilledProcessHadAcknowledgedIsThere() throws Exception {
        Map<String, Integer> versions = new HashMap<>();
        Random random = new Random(3);
        int next = 1;
        for (int kill = 0; kill < KILLS; kill++) {
            int last = runAndKill(next, random);
            for (; next <= last; next++) {
                apply(versions, next);
            }
            check(versions, next, random);
            next++;
        }
    }

    private static void apply(Map<String, Integer> versions, int number) {
        Change change = Change.of(number);
        for (String id : change.ids()) {
            if (change.isRemoval()) {
                versions.remove(id);
            } else {
                versions.put(id, number);
            }
        }
    }

    private int runAndKill(int first, Random random) throws IOException, InterruptedException {
        Process process =
                new ChildJvm(Writer.class).with("-Xmx256m").startQuietly(folder.toString(), Integer.toString(first));
        int last = first - 1;
        try (BufferedReader lines = process.inputReader()) {
            int until = first + random.nextInt(80);
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                last = Integer.parseInt(line);
                if (last >= until) {
                    process.toHandle().destroyForcibly();
                }
            }
            assertThat(last).isGreaterThanOrEqualTo(until);
        }
        process.waitFor();
        return last;
    }

    /** The change under way may have been made in part; from then on its documents are as they are found. */
    private void check(Map<String, Integer> versions, int underWay, Random random) throws IOException {
        Change change = Change.of(underWay);
        try (DocumentStore store = DocumentStore.open(folder)) {
            DocumentCollection collection = store.collection("one");
            for (String id : change.ids()) {
                Document found = collection.get(id);
                Integer version =
                        found == null ? null : (Integer) found.metadata().get("version");
                assertThat(version).isIn(versions.get(id), change.isRemoval() ? null : (Integer) underWay);
                if (version == null) {
                    versions.remove(id);
                } else {
                    versions.put(id, version);
                }
            }
            assertThat(collection.size()).isEqualTo(versions.size());
            for (int i = 0; i < IDS; i++) {
                String id = "d" + i;
                Integer version = versions.get(id);
                Document expected = version == null ? null : MadeUpDocuments.document(id, version);
                assertThat(collection.get(id)).usingRecursiveComparison().isEqualTo(expected);
                if (expected != null && random.nextInt(20) == 0) {
                    assertThat(collection
                                    .search(SearchRequest.of(expected.vector(), 1), null)
                                    .getFirst()
                                    .document()
                                    .id())
                            .isEqualTo(id);
                }
            }
        }
    }
}
