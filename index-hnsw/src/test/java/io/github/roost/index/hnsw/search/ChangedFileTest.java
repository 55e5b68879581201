package io.github.roost.index.hnsw.search;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.vector.Metric;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A mapped file that another program changes while it is searched: other hits or an error, never a crash of the JVM. */
class ChangedFileTest {
    private static final int DIMENSION = 20;
    private static final int NODES = 120;
    private static final int[] LEVEL_COUNTS = {30, 8};
    /** Of the head: the fields. The rest of it is zero. */
    private static final int FIELD_BYTES = 400;

    private final Random random = new Random(1);
    private final float[] query = gaussian(DIMENSION, random);

    /** The searches in C: the one in Java reads the head only when it opens the file. */
    private static List<GraphSearcher> searchers() {
        return GraphSearchers.available().stream()
                .filter(searcher -> searcher instanceof NativeSearch)
                .toList();
    }

    @TempDir
    @SuppressWarnings("NullAway.Init")
    private Path folder;

    @ParameterizedTest
    @EnumSource
    void noBitOfTheHeadIsReadAfterTheFileWasOpened(GraphImage.Content content) throws IOException {
        try (OpenFile file = new OpenFile(content)) {
            for (GraphSearcher searcher : searchers()) {
                int[] expected = searched(searcher, file.image);
                for (int bit = 0; bit < FIELD_BYTES * Byte.SIZE; bit++) {
                    file.flip(bit);
                    assertThat(searched(searcher, file.image))
                            .describedAs("%s, bit %d", searcher.name(), bit)
                            .isEqualTo(expected);
                    file.flip(bit);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aChangedBodyGivesOtherHitsOrAnError(GraphImage.Content content) throws IOException {
        try (OpenFile file = new OpenFile(content)) {
            int head = GraphImage.HEAD_BYTES * Byte.SIZE;
            int body = (int) (file.image.bytes() * Byte.SIZE) - head;
            int errors = 0;
            for (int trial = 0; trial < 1_000; trial++) {
                file.flip(head + random.nextInt(body));
                for (GraphSearcher searcher : searchers()) {
                    try {
                        assertThat(IntStream.of(searched(searcher, file.image)))
                                .allMatch(node -> node >= 0 && node < NODES);
                    } catch (DamagedImageException expected) {
                        errors++;
                    }
                }
            }
            assertThat(errors).isPositive();
        }
    }

    /** The nodes that a graph search finds, then, if there are vectors, those that a scan finds. */
    private int[] searched(GraphSearcher searcher, GraphImage image) {
        SearchScratch scratch = SearchScratch.take();
        try {
            scratch.begin(image, 30);
            scratch.setQuery(query);
            searcher.search(image, scratch, 30, 20, NodeSet.ALL, () -> {});
            IntStream found = nodes(scratch);
            if (image.shape().hasVectors()) {
                scratch.begin(image, 20);
                scratch.setQuery(query);
                searcher.scan(image, scratch, 20, NodeSet.ALL, 0, NODES, () -> {});
                found = IntStream.concat(found, nodes(scratch));
            }
            return found.toArray();
        } finally {
            scratch.giveBack();
        }
    }

    private static IntStream nodes(SearchScratch scratch) {
        return IntStream.of(
                IntStream.range(0, scratch.size()).map(scratch::node).toArray());
    }

    private final class OpenFile implements AutoCloseable {
        private final Arena arena = Arena.ofShared();
        private final FileChannel channel;
        private final ByteBuffer one = ByteBuffer.allocate(1);
        final GraphImage image;

        OpenFile(GraphImage.Content content) throws IOException {
            Path file = folder.resolve("image");
            channel = FileChannel.open(
                    file, StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE);
            channel.write(written(content).memory().asByteBuffer());
            MemorySegment mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
            image = ImageFile.openInPlace(file, mapped, content);
        }

        void flip(int bit) throws IOException {
            long at = bit / Byte.SIZE;
            channel.read(one.clear(), at);
            one.put(0, (byte) (one.get(0) ^ 1 << bit % Byte.SIZE));
            channel.write(one.flip(), at);
        }

        @Override
        public void close() throws IOException {
            channel.close();
            arena.close();
        }
    }

    private GraphImage written(GraphImage.Content content) {
        GraphImage image = GraphImage.allocate(
                new GraphImage.Shape(Metric.SQUARED_L2, content, DIMENSION, 8, 4, NODES, NODES, 0, 0, LEVEL_COUNTS));
        for (int node = 0; node < NODES; node++) {
            if (image.shape().hasVectors()) {
                image.setVector(node, gaussian(DIMENSION, random));
            } else {
                byte[] codes = new byte[DIMENSION];
                random.nextBytes(codes);
                image.setCodes(node, MemorySegment.ofArray(codes), 0, random.nextFloat(), 1);
            }
        }
        for (int layer = 0; layer <= image.levels(); layer++) {
            for (int node = 0; node < image.nodes(layer); node++) {
                int[] neighbors =
                        random.ints(image.degree(layer), 0, image.nodes(layer)).toArray();
                image.setNeighbors(layer, node, neighbors, neighbors.length);
            }
        }
        return image.shape().hasVectors() ? image.encode(() -> {}) : image;
    }
}
