package io.github.roost.lucene;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.lucene.memory.GraphCopies;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.index.CorruptIndexException;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.store.AlreadyClosedException;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FSLockFactory;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.store.NIOFSDirectory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Segments whose graphs their directory does not map in one piece. */
class GraphCopiesTest {
    private static final int DOCUMENTS = 1_200;
    private static final int DIMENSION = 16;
    private static final int K = 10;
    private static final long CHUNK = 1 << 14;

    private final Random random = new Random(1);
    private final float[] target = gaussian(DIMENSION, random);
    private final long before = GraphCopies.openBytes();

    @TempDir
    @SuppressWarnings("NullAway.Init")
    private Path folder;

    @BeforeEach
    void write() throws IOException {
        try (Directory directory = new MMapDirectory(folder)) {
            write(directory);
        }
    }

    private void write(Directory directory) throws IOException {
        IndexWriterConfig config = new IndexWriterConfig()
                .setCodec(Written.GRAPH.codec())
                .setMergePolicy(NoMergePolicy.INSTANCE)
                .setUseCompoundFile(false);
        try (IndexWriter writer = new IndexWriter(directory, config)) {
            for (int i = 0; i < DOCUMENTS; i++) {
                Document document = new Document();
                document.add(new KnnFloatVectorField("vector", gaussian(DIMENSION, random)));
                writer.addDocument(document);
            }
        }
    }

    private Directory inChunks() throws IOException {
        return new MMapDirectory(folder, FSLockFactory.getDefault(), CHUNK);
    }

    private ScoreDoc[] search(DirectoryReader reader) throws IOException {
        return new IndexSearcher(reader)
                .search(new KnnFloatVectorQuery("vector", target, K, null, new SearchEffort(50)), K)
                .scoreDocs;
    }

    private Path graphFile() throws IOException {
        try (var files = Files.list(folder)) {
            return files.filter(file -> file.toString().endsWith("." + GraphFiles.GRAPH_EXTENSION))
                    .findFirst()
                    .orElseThrow();
        }
    }

    @Test
    void aGraphAcrossChunksIsCopiedWithAWarningAndCountedUntilItsReaderIsClosed() throws IOException {
        PrintStream err = System.err;
        ByteArrayOutputStream logged = new ByteArrayOutputStream();
        System.setErr(new PrintStream(logged, true, StandardCharsets.UTF_8));
        try (Directory whole = new MMapDirectory(folder);
                Directory chunks = inChunks();
                DirectoryReader mapped = DirectoryReader.open(whole)) {
            ScoreDoc[] expected = search(mapped);
            assertThat(GraphCopies.openBytes()).isEqualTo(before);
            assertThat(logged.toString(StandardCharsets.UTF_8)).isEmpty();
            try (DirectoryReader copied = DirectoryReader.open(chunks)) {
                assertThat(search(copied)).usingRecursiveComparison().isEqualTo(expected);
                long bytes = GraphCopies.openBytes() - before;
                assertThat(bytes).isBetween((long) DOCUMENTS * DIMENSION, Files.size(graphFile()));
                assertThat(logged.toString(StandardCharsets.UTF_8))
                        .containsOnlyOnce("WARN")
                        .contains(graphFile().getFileName() + "\"", "field \"vector\"", bytes + " bytes");
            }
            assertThat(GraphCopies.openBytes()).isEqualTo(before);
        } finally {
            System.setErr(err);
        }
    }

    @Test
    void aDirectoryThatDoesNotMapIsCountedToo() throws IOException {
        try (Directory directory = new NIOFSDirectory(folder)) {
            try (DirectoryReader reader = DirectoryReader.open(directory)) {
                assertThat(search(reader)).hasSize(K);
                assertThat(GraphCopies.openBytes()).isGreaterThan(before);
            }
            assertThat(GraphCopies.openBytes()).isEqualTo(before);
        }
    }

    @Test
    void aGraphThatCannotBeOpenedLeavesNoCopy() throws IOException {
        byte[] bytes = Files.readAllBytes(graphFile());
        for (int at = GraphFiles.ALIGNMENT; at < 2 * GraphFiles.ALIGNMENT + 64; at++) {
            bytes[at] ^= 1;
        }
        Files.write(graphFile(), bytes);
        try (Directory directory = inChunks()) {
            assertThatThrownBy(() -> DirectoryReader.open(directory).close()).isInstanceOf(CorruptIndexException.class);
        }
        assertThat(GraphCopies.openBytes()).isEqualTo(before);
    }

    /** A merge reads the graphs of its segments, and the writer closes the merged ones. */
    @Test
    void copiesAreCountedOnceThroughMergesAndReopens() throws IOException {
        try (Directory directory = inChunks()) {
            write(directory);
            try (IndexWriter writer =
                            new IndexWriter(directory, new IndexWriterConfig().setCodec(Written.GRAPH.codec()));
                    DirectoryReader old = DirectoryReader.open(writer)) {
                writer.forceMerge(1);
                ScoreDoc[] expected = search(old);
                try (DirectoryReader merged = DirectoryReader.openIfChanged(old)) {
                    assertThat(merged).isNotNull();
                    assertThat(merged.leaves()).hasSize(1);
                    assertThat(search(merged)[0].score).isEqualTo(expected[0].score);
                }
                assertThat(search(old)).usingRecursiveComparison().isEqualTo(expected);
            }
        }
        assertThat(GraphCopies.openBytes()).isEqualTo(before);
    }

    @Test
    void aSearchWhoseReaderIsClosedHasItsHitsOrFails() throws Exception {
        try (Directory directory = new NIOFSDirectory(folder);
                ExecutorService threads = Executors.newFixedThreadPool(2)) {
            for (int trial = 0; trial < 30; trial++) {
                DirectoryReader reader = DirectoryReader.open(directory);
                CountDownLatch searching = new CountDownLatch(2);
                Runnable untilClosed = () -> {
                    try {
                        while (true) {
                            assertThat(search(reader)).hasSize(K);
                            searching.countDown();
                        }
                    } catch (AlreadyClosedException closed) {
                        // What a search of a closed reader throws.
                    } catch (IOException failure) {
                        assertThat(failure)
                                .as("a read of vectors")
                                .hasRootCauseInstanceOf(ClosedChannelException.class);
                    }
                };
                Future<?> one = threads.submit(untilClosed);
                Future<?> other = threads.submit(untilClosed);
                searching.await();
                reader.close();
                one.get();
                other.get();
            }
        }
        assertThat(GraphCopies.openBytes()).isEqualTo(before);
    }
}
