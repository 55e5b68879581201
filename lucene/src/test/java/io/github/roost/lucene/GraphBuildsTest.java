package io.github.roost.lucene;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.topology.TopologyReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.util.InfoStream;
import org.apache.lucene.util.hnsw.HnswGraphBuilder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class GraphBuildsTest {
    private static final int DIMENSION = 16;

    private final Orchestrator orchestrator = oneWorker();
    /** Waits for the worker however slow the machine is. */
    private final GraphBuilds builds = GraphBuilds.on(orchestrator, TimeUnit.MINUTES.toNanos(1));

    private static Orchestrator oneWorker() {
        return Orchestrator.builder()
                .topology(TopologyReader.synthetic("pack:1 l3:1 core:1 pu:1").read())
                .build();
    }

    /** Runs a build in a thread of its own. */
    private <T> CompletableFuture<T> start(GraphBuilds.Build<T> build) {
        CompletableFuture<T> result = new CompletableFuture<>();
        Thread.ofPlatform().start(() -> {
            try {
                result.complete(builds.run(build));
            } catch (Throwable failure) {
                result.completeExceptionally(failure);
            }
        });
        return result;
    }

    /** Runs a task on the worker. */
    private void search(Runnable task) throws Exception {
        MappingId home = orchestrator.register("table").id();
        orchestrator
                .submit(
                        (id, context) -> {
                            task.run();
                            return id;
                        },
                        home,
                        home)
                .get(30, TimeUnit.SECONDS);
    }

    @Test
    void aSearchThatArrivesDuringABuildGoesFirst() throws Exception {
        try (orchestrator) {
            AtomicBoolean searched = new AtomicBoolean();
            CountDownLatch building = new CountDownLatch(1);
            CompletableFuture<Thread> build = start(betweenPieces -> {
                building.countDown();
                while (!searched.get()) {
                    betweenPieces.run();
                }
                return Thread.currentThread();
            });
            building.await();
            AtomicInteger searcher = new AtomicInteger();
            search(() -> {
                searcher.set(System.identityHashCode(Thread.currentThread()));
                searched.set(true);
            });
            assertThat(System.identityHashCode(build.get())).isEqualTo(searcher.get());
            assertThat(builds.byWorkers()).isOne();
            assertThat(builds.byCallers()).isZero();
        }
    }

    @Test
    void noBuildWaitsForAnotherBuild() throws Exception {
        try (orchestrator) {
            CountDownLatch building = new CountDownLatch(1);
            CountDownLatch ends = new CountDownLatch(1);
            CompletableFuture<Integer> onWorker = start(betweenPieces -> {
                building.countDown();
                await(ends);
                return 1;
            });
            building.await();
            assertThat(builder()).isSameAs(Thread.currentThread());
            ends.countDown();
            assertThat(onWorker.get()).isOne();
            assertThat(builds.byWorkers()).isOne();
            assertThat(builds.byCallers()).isOne();
            assertThat(builder()).isNotSameAs(Thread.currentThread());
        }
    }

    /** The thread in which a graph is built. */
    private Thread builder() throws IOException {
        return builds.run(betweenPieces -> Thread.currentThread());
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void theCallerBuildsWhatNoWorkerBeginsInTime() throws Exception {
        try (orchestrator) {
            GraphBuilds impatient = GraphBuilds.on(orchestrator);
            CountDownLatch busy = new CountDownLatch(1);
            CountDownLatch ends = new CountDownLatch(1);
            CompletableFuture<Void> search = CompletableFuture.runAsync(() -> {
                try {
                    search(() -> {
                        busy.countDown();
                        await(ends);
                    });
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            });
            busy.await();
            AtomicInteger begun = new AtomicInteger();
            Thread builder = impatient.run(betweenPieces -> {
                begun.incrementAndGet();
                return Thread.currentThread();
            });
            assertThat(builder).isSameAs(Thread.currentThread());
            ends.countDown();
            search.join();
            // By now the worker has taken what was submitted before.
            search(() -> {});
            assertThat(begun).hasValue(1);
            assertThat(impatient.byCallers()).isOne();
        }
    }

    /** The only worker waits in the flush: it gets another thread for the build, or builds itself. */
    @Test
    void aFlushOnTheOnlyWorkerGetsItsGraph() throws Exception {
        try (orchestrator) {
            GraphBuilds impatient = GraphBuilds.on(orchestrator);
            AtomicInteger built = new AtomicInteger();
            search(() -> {
                try {
                    built.set(impatient.run(betweenPieces -> 7));
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            assertThat(built).hasValue(7);
            assertThat(impatient.byWorkers() + impatient.byCallers()).isOne();
        }
    }

    @Test
    void aFailureReachesTheCallerAsItIsAndFreesThePlace() throws IOException {
        try (orchestrator) {
            IOException full = new IOException("disk full");
            assertThatThrownBy(() -> builds.run(betweenPieces -> {
                        throw full;
                    }))
                    .isSameAs(full);
            StackOverflowError deep = new StackOverflowError();
            assertThatThrownBy(() -> builds.run(betweenPieces -> {
                        throw deep;
                    }))
                    .isSameAs(deep);
            assertThat(builder()).isNotSameAs(Thread.currentThread());
        }
    }

    @Test
    void withoutAnOpenOrchestratorOrBySettingTheCallerBuilds() throws IOException {
        builds.onWorkers(false);
        assertThat(builder()).isSameAs(Thread.currentThread());
        builds.onWorkers(true);
        orchestrator.close();
        assertThat(builder()).isSameAs(Thread.currentThread());
        assertThat(builds.byCallers()).isEqualTo(2);
    }

    /** The caller frees what the build uses when {@code run} returns, so the build must have ended by then, and begun only once. */
    @Test
    void anOrchestratorThatIsClosedMeanwhileRunsABuildOnceOrNotAtAll() throws Exception {
        for (int round = 0; round < 200; round++) {
            Orchestrator closing = oneWorker();
            GraphBuilds its = GraphBuilds.on(closing, TimeUnit.MINUTES.toNanos(1));
            AtomicInteger begun = new AtomicInteger();
            AtomicInteger running = new AtomicInteger();
            CountDownLatch both = new CountDownLatch(2);
            Thread closer = Thread.ofPlatform().start(() -> {
                both.countDown();
                await(both);
                closing.close();
            });
            both.countDown();
            await(both);
            its.run(betweenPieces -> {
                begun.incrementAndGet();
                running.incrementAndGet();
                for (int i = 0; i < 100; i++) {
                    betweenPieces.run();
                }
                return running.decrementAndGet();
            });
            assertThat(running).hasValue(0);
            assertThat(begun).hasValue(1);
            closer.join();
        }
    }

    @Test
    void searchesRunOnTheOnlyWorkerWhileItBuildsTheGraphsOfAFlushAndOfAMerge(@TempDir Path folder) throws Exception {
        try (orchestrator;
                Directory directory = new MMapDirectory(folder)) {
            AtomicInteger served = new AtomicInteger();
            try (IndexWriter writer = new IndexWriter(directory, config(builds, new SearchingDuringBuilds(served)))) {
                add(writer, 0, 1_500);
                writer.flush();
                int duringTheFlush = served.getAndSet(0);
                assertThat(duringTheFlush).isPositive();
                add(writer, 1_500, 3_000);
                writer.flush();
                served.set(0);
                writer.forceMerge(1);
                assertThat(served).hasPositiveValue();
            }
            assertThat(builds.byWorkers()).isEqualTo(3);
            assertThat(builds.byCallers()).isZero();
        }
    }

    /** Lucene's builder reports its progress here: searches submitted now must run before it ends, and so within it. */
    private final class SearchingDuringBuilds extends InfoStream {
        private final AtomicInteger served;
        private final MappingId home = orchestrator.register("table").id();

        SearchingDuringBuilds(AtomicInteger served) {
            this.served = served;
        }

        @Override
        public void message(String component, String message) {
            var _ = orchestrator.submit(
                    (id, context) -> {
                        if (withinLucenesBuilder()) {
                            served.incrementAndGet();
                        }
                        return id;
                    },
                    home,
                    home);
        }

        private static boolean withinLucenesBuilder() {
            return StackWalker.getInstance()
                    .walk(frames ->
                            frames.anyMatch(frame -> frame.getClassName().equals(HnswGraphBuilder.class.getName())));
        }

        @Override
        public boolean isEnabled(String component) {
            return component.equals("HNSW");
        }

        @Override
        public void close() {}
    }

    @Test
    void workersWriteTheSameGraphsAsCallers(@TempDir Path folder) throws IOException {
        try (orchestrator) {
            Path byWorkers = Files.createDirectory(folder.resolve("workers"));
            Path byCallers = Files.createDirectory(folder.resolve("callers"));
            write(byWorkers, builds);
            write(byCallers, GraphBuilds.IN_CALLER);
            assertThat(builds.byWorkers()).isEqualTo(3);
            try (Directory one = new MMapDirectory(byWorkers);
                    DirectoryReader worked = DirectoryReader.open(one);
                    Directory other = new MMapDirectory(byCallers);
                    DirectoryReader called = DirectoryReader.open(other)) {
                Random random = new Random(7);
                for (int i = 0; i < 50; i++) {
                    float[] target = vector(random);
                    TopDocs expected = search(called, target);
                    TopDocs found = search(worked, target);
                    // The numbers of visited vectors differ if the graphs do.
                    assertThat(found.totalHits).isEqualTo(expected.totalHits);
                    assertThat(found.scoreDocs).usingRecursiveComparison().isEqualTo(expected.scoreDocs);
                }
            }
        }
    }

    private static TopDocs search(DirectoryReader reader, float[] target) throws IOException {
        return reader.leaves()
                .getFirst()
                .reader()
                .searchNearestVectors(
                        "vector", target, 10, AcceptDocs.fromLiveDocs(null, reader.maxDoc()), Integer.MAX_VALUE);
    }

    private static void write(Path folder, GraphBuilds builds) throws IOException {
        try (Directory directory = new MMapDirectory(folder);
                IndexWriter writer = new IndexWriter(directory, config(builds, InfoStream.NO_OUTPUT))) {
            add(writer, 0, 1_500);
            writer.flush();
            add(writer, 1_500, 3_000);
            writer.flush();
            writer.forceMerge(1);
        }
    }

    private static IndexWriterConfig config(GraphBuilds builds, InfoStream progress) {
        return new IndexWriterConfig()
                .setCodec(new RoostCodec(Written.GRAPH.format(builds)))
                .setMergeScheduler(new SerialMergeScheduler())
                .setInfoStream(progress);
    }

    private static void add(IndexWriter writer, int from, int to) throws IOException {
        for (int row = from; row < to; row++) {
            Document document = new Document();
            document.add(
                    new KnnFloatVectorField("vector", vector(new Random(row)), VectorSimilarityFunction.EUCLIDEAN));
            writer.addDocument(document);
        }
    }

    private static float[] vector(Random random) {
        return gaussian(DIMENSION, random);
    }
}
