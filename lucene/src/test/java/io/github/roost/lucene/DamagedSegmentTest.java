package io.github.roost.lucene;

import static io.github.roost.testkit.MadeUp.gaussian;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.CRC32;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.index.CheckIndex;
import org.apache.lucene.index.CorruptIndexException;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexFormatTooNewException;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.MMapDirectory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Segment files that were truncated, changed, or written by a later version: one clear error each, and a JVM that goes on. */
@Tag("stress")
class DamagedSegmentTest {
    private static final int DOCUMENTS = 2_000;
    /** Magic, length of the codec's name. */
    private static final int NAME_AT = 5;

    @TempDir
    @SuppressWarnings("NullAway.Init")
    private Path folder;

    @BeforeEach
    void write() throws IOException {
        Random random = new Random(1);
        IndexWriterConfig config =
                new IndexWriterConfig().setCodec(Written.GRAPH.codec()).setUseCompoundFile(false);
        try (Directory directory = directory();
                IndexWriter writer = new IndexWriter(directory, config)) {
            for (int i = 0; i < DOCUMENTS; i++) {
                Document document = new Document();
                document.add(new KnnFloatVectorField("vector", vector(random)));
                writer.addDocument(document);
            }
        }
    }

    @Test
    void aTruncatedFileIsRefused() throws IOException {
        for (String extension : new String[] {"vex", "vem"}) {
            Path file = file(extension);
            byte[] whole = Files.readAllBytes(file);
            for (int length : new int[] {0, 3, 40, whole.length / 2, whole.length - 1}) {
                Files.write(file, Arrays.copyOf(whole, length));
                assertThatThrownBy(this::search)
                        .describedAs("%s of %d bytes", extension, length)
                        .isInstanceOf(IOException.class)
                        .hasStackTraceContaining("." + extension);
            }
            Files.write(file, whole);
            search();
        }
    }

    @Test
    void aLaterVersionIsRefused() throws IOException {
        for (String extension : new String[] {"vex", "vem"}) {
            Path file = file(extension);
            byte[] whole = Files.readAllBytes(file);
            byte[] later = whole.clone();
            later[NAME_AT + whole[NAME_AT - 1] + 3]++;
            Files.write(file, withChecksum(later));
            assertThatThrownBy(this::search).isInstanceOf(IndexFormatTooNewException.class);
            Files.write(file, whole);
        }
    }

    @Test
    void aChangedDescriptionIsRefused() throws IOException {
        Path file = file("vem");
        byte[] whole = Files.readAllBytes(file);
        Random random = new Random(2);
        for (int trial = 0; trial < 100; trial++) {
            byte[] changed = whole.clone();
            changed[random.nextInt(changed.length)] ^= (byte) (1 << random.nextInt(8));
            Files.write(file, changed);
            assertThatThrownBy(this::search).isInstanceOf(IOException.class);
        }
    }

    /** Lucene reads the checksums of large files when it merges and when it is asked to check, not when it opens them. */
    @Test
    void aChangedGraphIsAnErrorOrHarmlessAndCheckIndexSeesIt() throws IOException {
        Path file = file("vex");
        byte[] whole = Files.readAllBytes(file);
        Random random = new Random(3);
        int errors = 0;
        for (int trial = 0; trial < 60; trial++) {
            byte[] changed = whole.clone();
            for (int i = 0; i < 1 + trial * 10; i++) {
                changed[64 + random.nextInt(changed.length - 100)] = (byte) random.nextInt();
            }
            Files.write(file, changed);
            try {
                search();
            } catch (CorruptIndexException expected) {
                errors++;
            }
            try (Directory directory = directory();
                    CheckIndex check = new CheckIndex(directory)) {
                assertThat(check.checkIndex().clean).isFalse();
            }
        }
        assertThat(errors).isPositive();
        Files.write(file, whole);
        search();
    }

    /** With the checksum that the changed bytes have: the last eight. */
    private static byte[] withChecksum(byte[] file) {
        CRC32 checksum = new CRC32();
        checksum.update(file, 0, file.length - Long.BYTES);
        ByteBuffer.wrap(file).putLong(file.length - Long.BYTES, checksum.getValue());
        return file;
    }

    private void search() throws IOException {
        Random random = new Random(4);
        try (Directory directory = directory();
                DirectoryReader reader = DirectoryReader.open(directory)) {
            IndexSearcher searcher = new IndexSearcher(reader);
            for (int i = 0; i < 10; i++) {
                assertThat(searcher.search(new KnnFloatVectorQuery("vector", vector(random), 20), 20).scoreDocs)
                        .hasSize(20);
            }
        }
    }

    private Directory directory() throws IOException {
        return new MMapDirectory(folder);
    }

    private Path file(String extension) throws IOException {
        try (var files = Files.list(folder)) {
            return files.filter(file -> file.toString().endsWith("." + extension))
                    .findAny()
                    .orElseThrow();
        }
    }

    private static float[] vector(Random random) {
        return gaussian(16, random);
    }
}
