package io.github.roost.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.disk.DiskTable;
import io.github.roost.index.hnsw.GraphLayout;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.index.hnsw.LiveTable;
import io.github.roost.index.ivf.IvfTable;
import io.github.roost.index.remote.PartitionedIndex;
import io.github.roost.index.remote.RemoteMemory;
import io.github.roost.index.remote.RemoteTable;
import io.github.roost.io.BlockIo;
import io.github.roost.lucene.RoostCodec;
import io.github.roost.rows.Column;
import io.github.roost.rows.RowBatch;
import io.github.roost.rows.RowWriter;
import io.github.roost.rows.Schema;
import io.github.roost.rows.VersionBuilder;
import io.github.roost.rows.VersionedRows;
import io.github.roost.testkit.MadeUp;
import io.github.roost.topology.TopologyReader;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.MutableVectorTable;
import io.github.roost.vector.VectorSource;
import io.github.roost.vector.VectorTable;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Objects;
import java.util.Random;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.document.StoredField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FSDirectory;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Files of every kind as releases wrote them: all later versions read these. They are in the test resources, in a folder per release, and are
 * written by {@code ./mvnw -pl cli -am verify -DskipITs -Dtest=FilesOfReleasesTest -Dsurefire.failIfNoSpecifiedTests=false
 * -Droost.test.release=FOLDER}, which is done once per release whose formats differ.
 */
class FilesOfReleasesTest {
    private static final int ROWS = 60;
    private static final int DIMENSION = 8;
    /** Ids, which are not ordinals. */
    private static final long[] IDS =
            LongStream.range(0, ROWS).map(i -> 1_000 + 7 * i).toArray();

    private static final float[][] VECTORS = MadeUp.gaussian(ROWS, DIMENSION, new Random(2_026));
    /** So many that the index has a graph. */
    private static final float[][] DOCUMENTS = MadeUp.gaussian(1_000, DIMENSION, new Random(2_027));

    private static final int REMOVED = 4;
    private static final int MOVED = 9;
    /** Of the row that {@link #MOVED} becomes. */
    private static final float[] ELSEWHERE = {5, -5, 5, -5, 5, -5, 5, -5};

    private static final Schema SCHEMA = Schema.of(Column.ofText("name"), Column.ofFloat("price"));

    private final Orchestrator orchestrator = Orchestrator.builder()
            .topology(TopologyReader.synthetic("pack:1 l3:2 core:1 pu:1").read())
            .build();
    private final BlockIo io = BlockIo.builder(orchestrator).build();

    @TempDir
    @SuppressWarnings("NullAway.Init")
    private Path folder;

    @AfterEach
    void close() {
        io.close();
        orchestrator.close();
    }

    private enum Kind {
        HNSW,
        HNSW_INT8,
        LIVE,
        IVF,
        IVF_FLOAT16,
        IVF_INT8,
        IVF_CODES,
        DISK,
        POOL,
        ROWS,
        LUCENE
    }

    /** The folders of the resources. */
    static Stream<Path> releases() throws IOException, URISyntaxException {
        Path all = Path.of(Objects.requireNonNull(FilesOfReleasesTest.class.getResource("/files"))
                .toURI());
        try (Stream<Path> folders = Files.list(all)) {
            return folders.sorted().toList().stream()
                    .flatMap(release -> Stream.of(Kind.values())
                            .map(kind -> release.resolve(name(kind)))
                            .filter(Files::exists));
        }
    }

    private static String name(Kind kind) {
        return kind.name().toLowerCase(Locale.ROOT);
    }

    @ParameterizedTest
    @MethodSource("releases")
    void filesOfReleasesAreRead(Path written) throws IOException {
        Kind kind = Kind.valueOf(String.valueOf(written.getFileName()).toUpperCase(Locale.ROOT));
        Path copy = copy(written, folder.resolve("copy"));
        check(kind, copy);
    }

    @ParameterizedTest
    @EnumSource
    void filesOfTodayAreRead(Kind kind) throws IOException {
        String release = System.getProperty("roost.test.release");
        Path written = (release == null ? folder : Path.of(release)).resolve(name(kind));
        Files.createDirectories(written);
        write(kind, written);
        check(kind, copy(written, folder.resolve("copy")));
    }

    private static Path copy(Path from, Path to) throws IOException {
        Files.createDirectories(to);
        try (Stream<Path> files = Files.list(from)) {
            for (Path file : files.toList()) {
                Files.copy(file, to.resolve(file.getFileName()));
            }
        }
        return to;
    }

    private void write(Kind kind, Path into) throws IOException {
        Path file = into.resolve("table");
        switch (kind) {
            case HNSW -> save(HnswTable.builder().layout(GraphLayout.FLOAT32).build(orchestrator, IDS, VECTORS), file);
            case HNSW_INT8 ->
                save(HnswTable.builder().layout(GraphLayout.INT8).build(orchestrator, IDS, VECTORS), file);
            case LIVE -> save(LiveTable.builder().build(orchestrator, IDS, VECTORS), file);
            case IVF -> save(lists(ElementType.FLOAT32).build(orchestrator, IDS, VECTORS), file);
            case IVF_FLOAT16 -> save(lists(ElementType.FLOAT16).build(orchestrator, IDS, VECTORS), file);
            case IVF_INT8 -> save(lists(ElementType.INT8).build(orchestrator, IDS, VECTORS), file);
            case IVF_CODES -> save(lists(ElementType.INT8).keepFloats(false).build(orchestrator, IDS, VECTORS), file);
            case DISK -> writeDisk(into);
            case POOL -> writePool(into);
            case ROWS -> writeRows(into);
            case LUCENE -> writeLucene(into);
        }
    }

    private static IvfTable.Builder lists(ElementType element) {
        return IvfTable.builder().nlist(4).nprobe(4).elementType(element);
    }

    private static void save(VectorTable built, Path file) throws IOException {
        try (VectorTable table = built) {
            change(table);
            table.save(file);
        }
    }

    private static void change(VectorTable table) {
        if (table instanceof MutableVectorTable changing) {
            changing.remove(IDS[REMOVED]);
            changing.put(IDS[MOVED], ELSEWHERE);
        }
    }

    /** The changes are in the logs: the files are those of a process that was killed. */
    private void writeDisk(Path into) throws IOException {
        Path killed = Files.createDirectories(folder.resolve("killed"));
        DiskTable.builder().degree(8).build(orchestrator, io, killed.resolve("table"), IDS, VECTORS);
        try (DiskTable table = DiskTable.open(orchestrator, io, "changed", killed.resolve("table"))) {
            change(table);
            copy(killed, into);
        }
    }

    private void writePool(Path into) throws IOException {
        PartitionedIndex.builder()
                .partitions(2)
                .gap(1)
                .build(orchestrator, IDS, VectorSource.of(VECTORS), into.resolve("table"));
        try (RemoteTable table = RemoteTable.builder().open(orchestrator, "pool", RemoteMemory.mapped(into), "table")) {
            change(table);
        }
    }

    private static void writeRows(Path into) throws IOException {
        try (VersionedRows rows = VersionedRows.open(into);
                VersionBuilder version = rows.begin(3, SCHEMA)) {
            RowWriter row = version.writer();
            for (int i = 0; i < ROWS; i++) {
                version.put(IDS[i], row.setText(0, "row " + i).setFloat(1, VECTORS[i][0]));
            }
            version.seal();
        }
    }

    private static void writeLucene(Path into) throws IOException {
        try (Directory directory = FSDirectory.open(into);
                IndexWriter writer = new IndexWriter(directory, new IndexWriterConfig().setCodec(new RoostCodec()))) {
            for (int i = 0; i < DOCUMENTS.length; i++) {
                Document document = new Document();
                document.add(new StoredField("id", 7 * i));
                document.add(new KnnFloatVectorField("vector", DOCUMENTS[i]));
                writer.addDocument(document);
            }
        }
    }

    private void check(Kind kind, Path copy) throws IOException {
        Path file = copy.resolve("table");
        switch (kind) {
            case HNSW, HNSW_INT8 -> check(HnswTable.open(orchestrator, "read", file), 0);
            case LIVE -> check(LiveTable.open(orchestrator, "read", file), 0);
            case IVF, IVF_INT8 -> check(IvfTable.open(orchestrator, "read", file), 0);
            case IVF_FLOAT16 -> check(IvfTable.open(orchestrator, "read", file), .002);
            case IVF_CODES -> check(IvfTable.open(orchestrator, "read", file), .05);
            case DISK -> check(DiskTable.open(orchestrator, io, "read", file), 0);
            case POOL -> check(RemoteTable.builder().open(orchestrator, "read", RemoteMemory.mapped(copy), "table"), 0);
            case ROWS -> checkRows(copy);
            case LUCENE -> checkLucene(copy);
        }
    }

    /** Every row is there and is found by its own vector. */
    private static void check(VectorTable opened, double error) {
        try (VectorTable table = opened) {
            boolean isChanged = table instanceof MutableVectorTable;
            assertThat(table.size()).isEqualTo(isChanged ? ROWS - 1 : ROWS);
            for (int i = 0; i < ROWS; i++) {
                if (isChanged && i == REMOVED) {
                    assertThat(table.vector(IDS[i])).isNull();
                    continue;
                }
                float[] vector = isChanged && i == MOVED ? ELSEWHERE : VECTORS[i];
                assertThat(table.vector(IDS[i])).containsExactly(vector, Offset.offset((float) error));
                assertThat(table.search(vector, 1).join().ids()).containsExactly(IDS[i]);
            }
        }
    }

    private static void checkRows(Path copy) throws IOException {
        try (VersionedRows rows = VersionedRows.open(copy)) {
            rows.load(3);
            rows.publish(3);
            try (VersionedRows.Reader reader = rows.reader()) {
                RowBatch found = RowBatch.onHeap();
                reader.getAll(IDS, found, "price", "name");
                assertThat(found.version()).isEqualTo(3);
                for (int i = 0; i < ROWS; i++) {
                    assertThat(found.getText(i, 1)).isEqualTo("row " + i);
                    assertThat(found.getFloat(i, 0)).isEqualTo(VECTORS[i][0]);
                }
            }
        }
    }

    private static void checkLucene(Path copy) throws IOException {
        try (Directory directory = FSDirectory.open(copy);
                DirectoryReader reader = DirectoryReader.open(directory)) {
            IndexSearcher searcher = new IndexSearcher(reader);
            assertThat(reader.numDocs()).isEqualTo(DOCUMENTS.length);
            for (int i = 0; i < DOCUMENTS.length; i++) {
                ScoreDoc[] found = searcher.search(new KnnFloatVectorQuery("vector", DOCUMENTS[i], 20), 1).scoreDocs;
                Document document = searcher.storedFields().document(found[0].doc);
                assertThat(document.getField("id").numericValue()).isEqualTo(7 * i);
            }
        }
    }
}
