package io.github.roost.documents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.Orchestrator;
import io.github.roost.core.OrchestratorStats;
import io.github.roost.core.Registration;
import io.github.roost.index.hnsw.LiveTable;
import io.github.roost.testkit.Await;
import io.github.roost.testkit.ChildJvm;
import io.github.roost.vector.IdFilter;
import io.github.roost.vector.Metric;
import io.github.roost.vector.SearchRequest;
import io.github.roost.vector.TableFullException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class DocumentStoreTest {
    private static final float[] EAST = {1, 0};
    private static final float[] NORTH = {0, 1};

    @TempDir
    private Path folder;

    private static Document document(String id, float... vector) {
        return new Document(id, "text of " + id, Map.of(), vector);
    }

    private static List<String> ids(List<DocumentCollection.Match> matches) {
        return matches.stream().map(match -> match.document().id()).toList();
    }

    private static List<Document> many(int count, int version) {
        return IntStream.range(0, count)
                .mapToObj(i -> MadeUpDocuments.document("d" + i, version))
                .toList();
    }

    /** Each document is found by its own vector, and comes back as it was put. */
    private static void assertHolds(DocumentCollection collection, List<Document> documents) {
        assertThat(collection.size()).isEqualTo(documents.size());
        for (Document each : documents) {
            Document found = collection
                    .search(SearchRequest.of(each.vector(), 1), null)
                    .getFirst()
                    .document();
            assertThat(found).usingRecursiveComparison().isEqualTo(each);
        }
    }

    @Test
    void whatWasPutComesBackAfterReopening() throws IOException {
        Map<String, Object> metadata = new LinkedHashMap<>();
        metadata.put("string", "ß\uD83D\uDE00");
        metadata.put("half of a pair", "\uD83D");
        metadata.put("boolean", true);
        metadata.put("int", Integer.MIN_VALUE);
        metadata.put("long", Long.MAX_VALUE);
        metadata.put("float", Float.MIN_VALUE);
        metadata.put("double", Double.MAX_VALUE);
        metadata.put("uuid", new UUID(1, 2));
        metadata.put("list", List.of("a", 1, 2.5));
        Document all = new Document("id \uD83D\uDE00", "text \uDE00", metadata, new float[] {3, 4});
        Document bare = new Document("bare", null, Map.of(), new float[] {-1, 2});
        try (DocumentStore store = DocumentStore.open(folder)) {
            store.collection("one").put(List.of(all, bare));
        }
        try (DocumentStore store = DocumentStore.open(folder)) {
            assertThat(store.collections()).containsExactly("one");
            assertHolds(store.collection("one"), List.of(all, bare));
            assertThat(store.collection("one").get("bare"))
                    .usingRecursiveComparison()
                    .isEqualTo(bare);
            assertThat(store.collection("one").get("none")).isNull();
        }
    }

    @Test
    void aSecondPutReplaces() throws IOException {
        try (DocumentStore store = DocumentStore.open(folder)) {
            DocumentCollection collection = store.collection("one");
            collection.put(List.of(document("a", 1, 0), document("b", 0, 1)));
            collection.put(List.of(new Document("a", "new", Map.of("year", 2026), NORTH)));

            assertThat(collection.size()).isEqualTo(2);
            List<DocumentCollection.Match> found = collection.search(SearchRequest.of(EAST, 5), null);
            assertThat(found).extracting(DocumentCollection.Match::distance).containsExactly(1f, 1f);
            assertThat(found)
                    .extracting(match -> match.document().text())
                    .containsExactlyInAnyOrder("new", "text of b");
        }
    }

    @Test
    void ofTwoDocumentsWithOneIdInACallTheLaterCounts() throws IOException {
        try (DocumentStore store = DocumentStore.open(folder)) {
            DocumentCollection collection = store.collection("one");
            collection.put(List.of(document("a", EAST), document("a", NORTH)));

            assertThat(collection.size()).isOne();
            assertThat(collection.get("a")).usingRecursiveComparison().isEqualTo(document("a", NORTH));
        }
    }

    @Test
    void removesByIdAndFilter() throws IOException {
        try (DocumentStore store = DocumentStore.open(folder)) {
            DocumentCollection collection = store.collection("one");
            collection.put(many(20, 1));
            collection.put(List.of(MadeUpDocuments.document("d3", 2), MadeUpDocuments.document("d4", 2)));

            assertThat(collection.remove(List.of("d1", "d2", "none"))).isEqualTo(2);
            var second = new DocumentFilter.Compare("version", DocumentFilter.Comparison.EQUAL, 2);
            assertThat(collection.remove(second)).isEqualTo(2);
            assertThat(collection.remove(second)).isZero();
            assertThat(collection.size()).isEqualTo(16);
            assertThat(ids(collection.search(
                            SearchRequest.of(many(1, 1).getFirst().vector(), 100), null)))
                    .hasSize(16)
                    .doesNotContain("d1", "d2", "d3", "d4");
        }
        try (DocumentStore store = DocumentStore.open(folder)) {
            assertThat(store.collection("one").size()).isEqualTo(16);
        }
    }

    @Test
    void clearingForgetsTheDimension() throws IOException {
        try (DocumentStore store = DocumentStore.open(folder)) {
            DocumentCollection collection = store.collection("one");
            collection.clear();
            collection.put(List.of(document("a", EAST)));
            collection.clear();

            assertThat(collection.size()).isZero();
            assertThat(collection.search(SearchRequest.of(EAST, 1), null)).isEmpty();
            assertThat(store.collections()).isEmpty();
            collection.put(List.of(document("a", 1, 2, 3)));
            assertThat(collection.search(SearchRequest.of(new float[] {1, 2, 3}, 1), null))
                    .hasSize(1);
        }
    }

    @Test
    void collectionsAreApart() throws IOException {
        try (DocumentStore store = DocumentStore.open(folder)) {
            store.collection("one").put(List.of(document("a", EAST)));
            store.collection("two").put(List.of(document("a", 1, 2, 3)));
            store.collection("one").put(List.of(document("b", NORTH)));
            store.collection("two").clear();
            assertThat(ids(store.collection("one").search(SearchRequest.of(EAST, 5), null)))
                    .containsExactly("a", "b");
        }
    }

    @Test
    void badInputChangesNothing() throws IOException {
        try (DocumentStore store = DocumentStore.open(folder)) {
            DocumentCollection collection = store.collection("one");
            collection.put(List.of(document("a", EAST)));

            assertThatThrownBy(() -> collection.put(List.of(document("b", NORTH), document("c", 1, 2, 3))))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("document 'c'")
                    .hasMessageContaining("3");
            assertThatThrownBy(() -> collection.put(List.of(document("b", NORTH), document("c", 0, 0))))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("document 'c'");
            assertThatThrownBy(() -> collection.put(List.of(document("c", 0, Float.NaN))))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> document(" ", EAST))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("blank");
            assertThatThrownBy(() -> new Document("a", null, Map.of("when", Duration.ZERO), EAST))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("'when'")
                    .hasMessageContaining("java.time.Duration");
            assertThatThrownBy(() -> new Document("a", null, Map.of("x", Double.NaN), EAST))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("NaN");
            assertThatThrownBy(() -> collection.search(SearchRequest.of(new float[] {1, 2, 3}, 1), null))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> collection.search(SearchRequest.of(EAST, 1).filter(IdFilter.of(id -> true)), null))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("DocumentFilter");
            assertHolds(collection, List.of(document("a", EAST)));
        }
    }

    @Test
    void whatExceedsTheMemoryLimitChangesNothing() throws IOException {
        List<Document> fit = many(100, 1);
        try (DocumentStore store = DocumentStore.builder().memoryLimit(1 << 20).open(folder)) {
            DocumentCollection collection = store.collection("one");
            collection.put(fit);
            List<Document> tooMany = new ArrayList<>(many(100, 2));
            IntStream.range(0, 30_000).forEach(i -> tooMany.add(MadeUpDocuments.document("more " + i, 1)));

            assertThatThrownBy(() -> collection.put(tooMany)).isInstanceOf(TableFullException.class);
            assertHolds(collection, fit);
            collection.put(List.of(MadeUpDocuments.document("d1", 3)));
            collection.remove(List.of("d1"));
        }
        try (DocumentStore store = DocumentStore.open(folder)) {
            assertHolds(
                    store.collection("one"),
                    fit.stream().filter(each -> !each.id().equals("d1")).toList());
        }
    }

    @ParameterizedTest
    @EnumSource(Metric.class)
    void distancesAreThoseOfTheMetric(Metric metric) throws IOException {
        Random random = new Random(7);
        try (DocumentStore store = DocumentStore.builder().metric(metric).open(folder)) {
            DocumentCollection collection = store.collection("one");
            collection.put(many(50, 1));
            float[] query = MadeUpDocuments.vector(random);
            for (DocumentCollection.Match match : collection.search(SearchRequest.of(query, 50), null)) {
                assertThat((double) match.distance())
                        .isCloseTo(
                                Distances.of(metric, query, match.document().vector()),
                                org.assertj.core.data.Offset.offset(1e-4));
            }
        }
        try (DocumentStore store = DocumentStore.open(folder)) {
            assertThat(store.metric()).isEqualTo(metric);
        }
        Metric other = metric == Metric.COSINE ? Metric.SQUARED_L2 : Metric.COSINE;
        assertThatThrownBy(() -> DocumentStore.builder().metric(other).open(folder))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(metric.name())
                .hasMessageContaining(other.name());
    }

    @Test
    void storesOfOneFolderShareItAndTheWorkers() throws IOException {
        Path link = Files.createSymbolicLink(folder.resolveSibling(folder.getFileName() + "-link"), folder);
        DocumentStore first = DocumentStore.open(folder);
        try (DocumentStore second = DocumentStore.open(link)) {
            first.collection("one").put(List.of(document("a", EAST)));
            assertThat(second.collection("one").size()).isOne();
            assertThat(second.orchestrator()).isSameAs(first.orchestrator());
            first.close();
            first.close();
            assertThatThrownBy(() -> first.collection("one")).isInstanceOf(IllegalStateException.class);
            second.collection("one").put(List.of(document("b", NORTH)));
            assertThat(second.collection("one").size()).isEqualTo(2);
        } finally {
            Files.delete(link);
        }
    }

    @Test
    void anOrchestratorOfOnesOwnIsUsedAndLeftOpen() throws IOException {
        try (Orchestrator orchestrator = Orchestrator.builder().build()) {
            try (DocumentStore store =
                    DocumentStore.builder().orchestrator(orchestrator).open(folder)) {
                assertThat(store.orchestrator()).isSameAs(orchestrator);
                store.collection("one").put(List.of(document("a", EAST)));
            }
            assertThat(orchestrator.register("still open").id(0)).isNotNull();
        }
    }

    /** Opens a folder, and says why not. */
    static final class Opener {
        private Opener() {}

        public static void main(String[] arguments) {
            try (DocumentStore store = DocumentStore.open(Path.of(arguments[0]))) {
                System.out.println("opened " + store.collections());
            } catch (IOException refused) {
                System.out.println(refused.getMessage());
            }
        }
    }

    @Test
    void anotherProcessIsRefusedUnderAnyName() throws Exception {
        Path alias = Files.createDirectory(folder.resolve("alias"));
        Path original = Files.createDirectory(folder.resolve("original"));
        try (DocumentStore store = DocumentStore.open(original)) {
            store.collection("one").put(List.of(document("a", EAST)));
            Files.createLink(alias.resolve("documents.mv"), original.resolve("documents.mv"));
            for (Path name : List.of(original, alias)) {
                Process other = new ChildJvm(Opener.class).startQuietly(name.toString());
                assertThat(new String(other.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                        .contains("documents.mv is open in another process");
                assertThat(other.waitFor()).isZero();
            }
            try (DocumentStore same = DocumentStore.open(alias)) {
                assertThat(same.collection("one").size()).isOne();
            }
            // A refused opener has not taken the lock away.
            Process again = new ChildJvm(Opener.class).startQuietly(original.toString());
            assertThat(new String(again.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                    .contains("is open in another process");
        }
    }

    @Test
    void aRefusedFirstDocumentLeavesNothing() throws IOException {
        try (DocumentStore store =
                DocumentStore.builder().memoryLimit(1_000_000).open(folder)) {
            float[] wide = new float[4_096];
            wide[0] = 1;
            assertThatThrownBy(() -> store.collection("a").put(List.of(document("a", wide))))
                    .isInstanceOf(TableFullException.class);
            assertThat(store.collections()).isEmpty();
            store.collection("b").put(List.of(document("b", EAST)));
            assertThat(store.collection("a").get("b")).isNull();
            store.collection("a").clear();
            store.collection("a").put(List.of(document("c", NORTH)));
            assertHolds(store.collection("b"), List.of(document("b", EAST)));
        }
        try (DocumentStore store = DocumentStore.open(folder)) {
            assertHolds(store.collection("a"), List.of(document("c", NORTH)));
            assertHolds(store.collection("b"), List.of(document("b", EAST)));
        }
    }

    /** Puts more than the limit allows, and ends without closing. */
    static final class Overfull {
        private Overfull() {}

        public static void main(String[] arguments) throws IOException {
            DocumentCollection collection = DocumentStore.builder()
                    .memoryLimit(2 << 20)
                    .open(Path.of(arguments[0]))
                    .collection("one");
            collection.put(many(500, 1));
            try {
                collection.put(many(40_000, 2));
            } catch (TableFullException refused) {
                Runtime.getRuntime().halt(3);
            }
        }
    }

    @Test
    void aRefusedChangeDoesNotComeBackAfterAKill() throws Exception {
        Process killed = new ChildJvm(Overfull.class).startQuietly(folder.toString());
        assertThat(killed.waitFor()).isEqualTo(3);
        try (DocumentStore store = DocumentStore.open(folder)) {
            assertHolds(store.collection("one"), many(500, 1));
        }
    }

    /** Puts documents until its file may not grow, and says what comes of each call then, and after reopening. */
    static final class OnFullDisk {
        private OnFullDisk() {}

        private static void tell(String what, Callable<?> call) {
            try {
                System.out.println(what + " gave " + call.call());
            } catch (Exception refused) {
                System.out.println(what + " " + refused.getClass().getSimpleName() + ": " + refused.getMessage());
            }
        }

        public static void main(String[] arguments) throws IOException {
            Path folder = Path.of(arguments[0]);
            try (DocumentStore store = DocumentStore.open(folder)) {
                DocumentCollection one = store.collection("one");
                one.put(many(500, 1));
                tell("put", () -> {
                    for (int i = 0; ; i++) {
                        store.collection("many" + i).put(many(1_000, i));
                    }
                });
                tell("get", () -> one.get("d1"));
                tell(
                        "search",
                        () -> one.search(SearchRequest.of(many(1, 1).getFirst().vector(), 1), null));
                tell("size", one::size);
                tell("collections", store::collections);
                tell("new", () -> store.collection("new").size());
                tell("add", () -> {
                    one.put(many(1, 1));
                    return null;
                });
                tell("backup", () -> {
                    store.backup(folder.resolve("backup"));
                    return null;
                });
            }
            try (DocumentStore store = DocumentStore.open(folder)) {
                tell("reopened", store.collection("one")::size);
            }
        }
    }

    @Test
    void afterAFailedWriteEveryCallSaysSo() throws Exception {
        List<String> lines = new ChildJvm(OnFullDisk.class)
                .under("sh", "-c", "ulimit -f 8000 && exec \"$0\" \"$@\"")
                .run(folder.toString());
        String why = folder.resolve("documents.mv") + " cannot be written: File too large";
        assertThat(lines).contains("put UncheckedIOException: " + why, "reopened gave 500");
        for (String what : List.of("get", "search", "size", "collections", "new", "add", "backup")) {
            assertThat(lines)
                    .anySatisfy(line -> assertThat(line)
                            .startsWith(what + " IllegalStateException: the documents in " + folder + " cannot be ")
                            .endsWith(" since a write has failed; close and open them again: " + why));
        }
    }

    @Test
    void aFolderThatIsMovedTakesNoMoreChanges() throws IOException {
        Path place = folder.resolve("place");
        Path moved = folder.resolve("moved");
        try (DocumentStore store = DocumentStore.open(place)) {
            store.collection("one").put(List.of(document("a", EAST)));
            Files.move(place, moved);
            assertThatThrownBy(() -> store.collection("one").put(List.of(document("b", NORTH))))
                    .isInstanceOf(UncheckedIOException.class)
                    .hasMessageContaining("has been moved or deleted");
            try (DocumentStore other = DocumentStore.open(place)) {
                assertThat(other.collections()).isEmpty();
                other.collection("two").put(List.of(document("c", NORTH)));
            }
        }
        try (DocumentStore store = DocumentStore.open(moved)) {
            assertHolds(store.collection("one"), List.of(document("a", EAST)));
        }
        try (DocumentStore store = DocumentStore.open(place)) {
            assertHolds(store.collection("two"), List.of(document("c", NORTH)));
        }
    }

    @Test
    void fewDocumentsTakeLittleMemoryAndManyMayFollow() throws IOException {
        try (DocumentStore store = DocumentStore.builder().memoryLimit(200_000).open(folder)) {
            // Room for 2,048 vectors at once would be refused.
            float[] wide = new float[128];
            wide[0] = 1;
            store.collection("wide").put(List.of(document("a", wide)));
        }
        try (DocumentStore store = DocumentStore.open(folder)) {
            List<Document> documents = many(1_000, 1);
            store.collection("one").put(documents.subList(0, 100));
            store.collection("one").put(documents.subList(100, 1_000));
            assertHolds(store.collection("one"), documents);
        }
    }

    @Test
    void filtersThatAreNestedTooDeepAreRefusedByName() throws IOException {
        DocumentFilter deep = new DocumentFilter.Exists("a");
        for (int i = 0; i < 100_000; i++) {
            deep = new DocumentFilter.Not(deep);
        }
        DocumentFilter deeper = deep;
        try (DocumentStore store = DocumentStore.open(folder)) {
            DocumentCollection collection = store.collection("one");
            collection.put(List.of(document("a", EAST)));
            assertThatThrownBy(() -> collection.search(SearchRequest.of(EAST, 1), deeper))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("1000 deep");
            assertThatThrownBy(() -> collection.remove(deeper)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void fewAllowedRowsAreFoundExactly() throws IOException {
        List<Document> documents = new ArrayList<>(many(6_000, 1));
        documents.addAll(IntStream.range(0, 30)
                .mapToObj(i -> MadeUpDocuments.document("rare" + i, 2))
                .toList());
        try (DocumentStore store = DocumentStore.open(folder)) {
            DocumentCollection collection = store.collection("one");
            collection.put(documents);
            var rare = new DocumentFilter.Compare("version", DocumentFilter.Comparison.EQUAL, 2);
            float[] query = MadeUpDocuments.vector(new Random(9));
            List<String> expected = documents.subList(6_000, 6_030).stream()
                    .sorted(java.util.Comparator.comparingDouble(
                            each -> Distances.of(Metric.COSINE, query, each.vector())))
                    .limit(10)
                    .map(Document::id)
                    .toList();
            assertThat(ids(collection.search(SearchRequest.of(query, 10), rare)))
                    .isEqualTo(expected);
        }
    }

    /** The search waits for a worker while half of the documents that its filter allows are removed, and as many put. */
    @Test
    void aSearchBesideChangesFindsAsManyAsThereAre() throws Exception {
        List<Document> documents = many(150, 1);
        try (Orchestrator orchestrator = Orchestrator.builder().build();
                DocumentStore store =
                        DocumentStore.builder().orchestrator(orchestrator).open(folder);
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            DocumentCollection collection = store.collection("one");
            collection.put(documents.subList(0, 100));
            var filter = new DocumentFilter.Compare("version", DocumentFilter.Comparison.EQUAL, 1);
            SearchRequest request = SearchRequest.of(documents.getFirst().vector(), 100);
            // The workers search for a filter that comes again.
            assertThat(collection.search(request, filter)).hasSize(100);

            CountDownLatch begun = new CountDownLatch(orchestrator.workers());
            CountDownLatch end = new CountDownLatch(1);
            Registration busy = orchestrator.register("busy");
            List<Future<?>> running = new ArrayList<>();
            for (int i = 0; i < orchestrator.workers(); i++) {
                running.add(orchestrator.submit(
                        (query, _) -> {
                            begun.countDown();
                            end.await();
                            return query;
                        },
                        i,
                        busy.id(0)));
            }
            begun.await();
            Future<List<DocumentCollection.Match>> found = threads.submit(() -> collection.search(request, filter));
            Await.until(() -> waiting(orchestrator) > 0);
            collection.put(documents.subList(100, 150));
            collection.remove(idsOf(documents.subList(0, 50)));
            end.countDown();

            assertThat(ids(found.get())).containsExactlyInAnyOrderElementsOf(idsOf(documents.subList(50, 150)));
            for (Future<?> each : running) {
                each.get();
            }
        }
    }

    private static int waiting(Orchestrator orchestrator) {
        return orchestrator.stats().domains().stream()
                .mapToInt(OrchestratorStats.DomainStats::waiting)
                .sum();
    }

    private static List<String> idsOf(List<Document> documents) {
        return documents.stream().map(Document::id).toList();
    }

    /** What the table itself finds or refuses is the same for the few rows of a filter. */
    @Test
    void aFilterOfFewRowsIsSearchedAsAllAre() throws IOException {
        var all = new DocumentFilter.Not(new DocumentFilter.Exists("none"));
        try (DocumentStore store =
                DocumentStore.builder().metric(Metric.INNER_PRODUCT).open(folder)) {
            DocumentCollection collection = store.collection("one");
            collection.put(List.of(
                    document("same", 1e30f, 1e30f),
                    document("across", -1e30f, 1e30f),
                    document("opposite", -1e30f, -1e30f),
                    document("zero", 0, 0)));
            SearchRequest request = SearchRequest.of(new float[] {1e30f, 1e30f}, 10);
            assertThat(distances(collection.search(request, all)))
                    .isEqualTo(distances(collection.search(request, null)));
            for (DocumentFilter filter : Arrays.asList(null, all)) {
                assertThatThrownBy(() -> collection.search(request.effort(1), filter))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessage("ef must be between 10 and 100,000, got 1");
            }
        }
    }

    private static Map<String, Float> distances(List<DocumentCollection.Match> matches) {
        return matches.stream()
                // Plus 0, so that -0 is 0.
                .collect(Collectors.toMap(match -> match.document().id(), match -> match.distance() + 0f));
    }

    @Test
    void interruptsDoNotCloseTheFile() throws Exception {
        try (DocumentStore store = DocumentStore.builder().cache(1).open(folder)) {
            DocumentCollection collection = store.collection("one");
            List<Document> documents = many(3_000, 1);
            collection.put(documents);
            Thread interrupted = Thread.ofPlatform().start(() -> {
                for (int i = 0; i < 300; i++) {
                    Thread.currentThread().interrupt();
                    collection.get("d" + i * 7);
                    collection.put(List.of(documents.get(i)));
                    collection.search(SearchRequest.of(documents.get(i).vector(), 3), null);
                }
            });
            interrupted.join();
            assertHolds(collection, documents);
        }
    }

    /** Each step has replaced documents, so that the file has space to be compacted. */
    @Test
    void interruptedThreadsChangeOpenCloseAndBackUp() throws IOException {
        Path place = folder.resolve("store");
        List<Document> documents = many(200, 1);
        try (DocumentStore store = DocumentStore.open(place)) {
            DocumentCollection collection = store.collection("one");
            for (int i = 0; i < 5; i++) {
                collection.put(documents);
            }
            for (int i = 0; i < 100; i++) {
                Document each = documents.get(i);
                interrupted(() -> collection.put(List.of(each)));
            }
            interrupted(() -> collection.remove(List.of("none")));
            interrupted(() -> store.backup(folder.resolve("backup.zip")));
            store.collection("two").put(documents);
            interrupted(() -> store.collection("two").clear());
            collection.put(documents);
            interrupted(store::close);
        }
        interrupted(() -> {
            try (DocumentStore store = DocumentStore.open(place)) {
                assertThat(store.collections()).containsExactly("one");
            }
        });
        try (DocumentStore store = DocumentStore.open(place)) {
            assertHolds(store.collection("one"), documents);
        }
    }

    private interface Step {
        void run() throws IOException;
    }

    private static void interrupted(Step step) throws IOException {
        Thread.currentThread().interrupt();
        try {
            step.run();
        } finally {
            assertThat(Thread.interrupted()).as("the interrupt is kept").isTrue();
        }
    }

    @Test
    void aBackupIsAStore() throws IOException {
        Path archive = folder.resolve("backup.zip");
        Path copy = Files.createDirectory(folder.resolve("copy"));
        List<Document> documents = many(500, 1);
        try (DocumentStore store = DocumentStore.open(folder.resolve("store"))) {
            store.collection("one").put(documents);
            store.backup(archive);
            store.collection("one").clear();
        }
        try (ZipInputStream zip = new ZipInputStream(Files.newInputStream(archive))) {
            for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
                Files.copy(zip, copy.resolve(entry.getName()));
            }
        }
        try (DocumentStore store = DocumentStore.open(copy)) {
            assertHolds(store.collection("one"), documents);
        }
    }

    /** Without the drafts of those that are just being saved. */
    private List<Path> savedTables() throws IOException {
        try (Stream<Path> files = Files.list(folder.resolve("tables"))) {
            return files.filter(file -> !file.getFileName().toString().startsWith("."))
                    .toList();
        }
    }

    @Test
    void theGraphOfALargeCollectionIsBuiltOnceAndSaved() throws Exception {
        List<Document> documents = many(10_000, 1);
        try (DocumentStore store = DocumentStore.open(folder)) {
            store.collection("one").put(documents);
            awaitSavedWithGraph();
            store.collection("one").put(documents.subList(0, 10));
        }
        assertThat(isSavedWithGraph()).isTrue();
        try (DocumentStore store = DocumentStore.open(folder)) {
            assertHolds(store.collection("one"), documents);
        }
        assertThat(isSavedWithGraph()).isTrue();
    }

    @Test
    void aTableThatWasSavedBeforeItsGraphWasBuiltIsSavedAgain() throws Exception {
        List<Document> documents = many(9_000, 1);
        try (DocumentStore store = DocumentStore.open(folder)) {
            store.collection("one").put(documents);
        }
        try (DocumentStore store = DocumentStore.open(folder)) {
            assertHolds(store.collection("one"), documents);
            awaitSavedWithGraph();
        }
        try (DocumentStore store = DocumentStore.open(folder)) {
            assertHolds(store.collection("one"), documents);
            store.collection("one").clear();
            assertThat(store.collection("one").size()).isZero();
        }
    }

    @Test
    void aCollectionThatIsClearedIsSavedLikeANewOne() throws Exception {
        List<Document> documents = many(12_000, 1);
        try (DocumentStore store = DocumentStore.open(folder)) {
            DocumentCollection collection = store.collection("one");
            collection.put(documents);
            collection.clear();
            collection.put(documents);
            awaitSavedWithGraph();
            assertHolds(collection, documents);
        }
    }

    @Test
    void clearingBesideASaveLogsNothing() throws Exception {
        List<Document> documents = many(12_000, 1);
        PrintStream before = System.err;
        ByteArrayOutputStream logged = new ByteArrayOutputStream();
        System.setErr(new PrintStream(logged, true, StandardCharsets.UTF_8));
        try (DocumentStore store = DocumentStore.open(folder)) {
            DocumentCollection collection = store.collection("one");
            for (int i = 0; i < 5; i++) {
                collection.put(documents);
                // At another moment of the save each time.
                Thread.sleep(5L * i);
                // Also an interrupted thread waits for it.
                interrupted(collection::clear);
            }
        } finally {
            System.setErr(before);
        }
        assertThat(logged.toString(StandardCharsets.UTF_8)).isEmpty();
        assertThat(savedTables()).isEmpty();
    }

    private void awaitSavedWithGraph() throws Exception {
        while (!isSavedWithGraph()) {
            Thread.sleep(50);
        }
    }

    /** Whether the one saved table has its rows in a graph; false too if it is just being replaced. */
    private boolean isSavedWithGraph() throws IOException {
        try (Orchestrator orchestrator = Orchestrator.builder().build()) {
            List<Path> saved = savedTables();
            if (saved.size() != 1) {
                return false;
            }
            Path copy = Files.copy(saved.getFirst(), folder.resolve("copy"), StandardCopyOption.REPLACE_EXISTING);
            try (LiveTable table = LiveTable.open(orchestrator, "copy", copy)) {
                return table.graphParts() > 0 && table.stats().parts() - table.graphParts() <= 1;
            }
        } catch (NoSuchFileException replaced) {
            return false;
        }
    }

    @Test
    void aLargeCollectionIsOpenedFromItsSavedTableAndTheChangesSince() throws Exception {
        List<Document> documents = new ArrayList<>(many(5_000, 1));
        try (DocumentStore store = DocumentStore.open(folder)) {
            store.collection("one").put(documents);
        }
        assertThat(savedTables()).hasSize(1);
        try (DocumentStore store = DocumentStore.open(folder)) {
            assertHolds(store.collection("one"), documents);
            awaitSavedWithGraph();
        }
        byte[] saved = Files.readAllBytes(savedTables().getFirst());
        try (DocumentStore store = DocumentStore.open(folder)) {
            DocumentCollection collection = store.collection("one");
            assertHolds(collection, documents);
            for (int i = 0; i < 200; i++) {
                documents.set(i, MadeUpDocuments.document("d" + i, 2));
            }
            collection.put(documents.subList(0, 200));
            documents.subList(200, 300).clear();
            collection.remove(IntStream.range(200, 300).mapToObj(i -> "d" + i).toList());
        }
        // So few changes are not worth a new table.
        assertThat(savedTables()).hasSize(1);
        assertThat(Files.readAllBytes(savedTables().getFirst())).isEqualTo(saved);
        try (DocumentStore store = DocumentStore.open(folder)) {
            assertHolds(store.collection("one"), documents);
        }
    }

    @Test
    void onlySavedTablesAreDeletedBesideANewOne() throws IOException {
        Path tables = Files.createDirectory(folder.resolve("tables"));
        List<Path> others = new ArrayList<>();
        for (String name : List.of("1-notes.txt", ".1-notes.part", "1-7.roost")) {
            others.add(Files.writeString(tables.resolve(name), name));
        }
        Path left = Files.createFile(tables.resolve(".1-7.roost-" + UUID.randomUUID() + ".part"));
        try (DocumentStore store = DocumentStore.open(folder)) {
            store.collection("one").put(many(5_000, 1));
        }
        assertThat(left).doesNotExist();
        assertThat(others)
                .allSatisfy(other ->
                        assertThat(other).hasContent(other.getFileName().toString()));
        assertThat(savedTables()).hasSize(others.size());
    }

    @Test
    void aDamagedOrMissingTableIsMadeAgain() throws IOException {
        List<Document> documents = many(5_000, 1);
        try (DocumentStore store = DocumentStore.open(folder)) {
            store.collection("one").put(documents);
        }
        Path table = savedTables().getFirst();
        byte[] bytes = Files.readAllBytes(table);
        bytes[bytes.length / 2] ^= 1;
        Files.write(table, bytes);
        try (DocumentStore store = DocumentStore.open(folder)) {
            assertHolds(store.collection("one"), documents);
        }
        Files.deleteIfExists(table);
        try (DocumentStore store = DocumentStore.open(folder)) {
            assertHolds(store.collection("one"), documents);
        }
    }

    @Test
    void aFileThatIsNoStoreIsRefusedByName() throws IOException {
        Path file = Files.writeString(folder.resolve("documents.mv"), "something else entirely ".repeat(1_000));
        assertThatThrownBy(() -> DocumentStore.open(folder))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(file.toString());
        assertThat(Files.readString(file)).startsWith("something else");
        Path notAFolder = Files.writeString(folder.resolve("file"), "");
        assertThatThrownBy(() -> DocumentStore.open(notAFolder)).isInstanceOf(IOException.class);
    }
}
