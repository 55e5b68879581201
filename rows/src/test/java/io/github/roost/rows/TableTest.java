package io.github.roost.rows;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TableTest {
    private static final Schema SCHEMA = Schema.of(
            Column.ofText("name"),
            Column.ofInt("year"),
            Column.ofFloat("score"),
            Column.ofBytes("blob"),
            Column.ofLong("size"),
            Column.ofDouble("weight"),
            Column.ofFixedBytes("digest", 5));

    @TempDir
    Path folder;

    private record Row(String name, int year, float score, byte[] blob, long size, double weight, byte[] digest) {
        static Row random(Random random) {
            byte[] blob = new byte[random.nextInt(300)];
            byte[] digest = new byte[5];
            random.nextBytes(blob);
            random.nextBytes(digest);
            return new Row(
                    "n\u00e4me".repeat(random.nextInt(4)),
                    random.nextInt(),
                    Float.intBitsToFloat(random.nextInt()),
                    blob,
                    random.nextLong(),
                    Double.longBitsToDouble(random.nextLong()),
                    digest);
        }

        RowWriter write(RowWriter to) {
            return to.clear()
                    .setText(0, name)
                    .setInt(1, year)
                    .setFloat(2, score)
                    .setBytes(3, blob)
                    .setLong(4, size)
                    .setDouble(5, weight)
                    .setBytes(6, digest);
        }

        void assertIs(RowBatch rows, int i) {
            assertEquals(name, rows.getText(i, 0));
            assertEquals(year, rows.getInt(i, 1));
            assertEquals(Float.floatToRawIntBits(score), Float.floatToRawIntBits(rows.getFloat(i, 2)));
            assertArrayEquals(blob, rows.getBytes(i, 3).toArray(ValueLayout.JAVA_BYTE));
            assertEquals(size, rows.getLong(i, 4));
            assertEquals(Double.doubleToRawLongBits(weight), Double.doubleToRawLongBits(rows.getDouble(i, 5)));
            assertArrayEquals(digest, rows.getBytes(i, 6).toArray(ValueLayout.JAVA_BYTE));
        }
    }

    private static void publish(VersionedRows table, long version, Map<Long, Row> rows) throws IOException {
        try (VersionBuilder loading = table.begin(version, SCHEMA)) {
            RowWriter writer = loading.writer();
            rows.forEach((key, row) -> loading.put(key, row.write(writer)));
            loading.seal();
        }
        table.publish(version);
    }

    private static Map<Long, Row> randomRows(Random random, int count) {
        Map<Long, Row> rows = new HashMap<>(Map.of(0L, Row.random(random), -1L, Row.random(random)));
        while (rows.size() < count) {
            rows.put(random.nextLong(), Row.random(random));
        }
        return rows;
    }

    private static void assertRows(Map<Long, Row> expected, VersionedRows.Reader reader, long version) {
        long[] keys = new long[expected.size() + 2];
        int count = 0;
        for (long key : expected.keySet()) {
            keys[count++] = key;
        }
        keys[count++] = 4_711;
        keys[count] = keys[0];
        RowBatch rows = RowBatch.onHeap();
        assertEquals(expected.size() + 1, reader.getAll(version, keys, rows, List.of()));
        assertEquals(keys.length, rows.size());
        assertEquals(expected.size() + 1, rows.present());
        for (int i = 0; i < keys.length; i++) {
            Row row = expected.get(keys[i]);
            assertEquals(row != null, rows.isPresent(i));
            if (row != null) {
                row.assertIs(rows, i);
            }
        }
    }

    @Test
    void whatIsPublishedIsReadAndOpenedAgain() throws IOException {
        Random random = new Random(28);
        Map<Long, Row> first = randomRows(random, 3_000);
        Map<Long, Row> second = randomRows(random, 200);
        try (VersionedRows table = VersionedRows.open(folder);
                VersionedRows.Reader reader = table.reader()) {
            publish(table, 7, first);
            assertRows(first, reader, 0);
            publish(table, 9, second);
            assertRows(second, reader, 0);
            assertRows(first, reader, 7);
            assertEquals(List.of(9L, 7L), table.liveVersions());
        }
        try (VersionedRows table = VersionedRows.open(folder);
                VersionedRows.Reader reader = table.reader()) {
            assertEquals(9, table.current());
            assertRows(second, reader, 9);
            table.load(7);
            assertRows(first, reader, 7);
            table.publish(7);
            assertRows(first, reader, 0);
            assertEquals(List.of(7L, 9L), table.sealedVersions());
        }
    }

    @Test
    void rowsOfSeveralChunksAreReadAndOpenedAgain() throws IOException {
        Schema blobs = Schema.of(Column.ofBytes("blob"));
        int rows = 40;
        byte[] blob = new byte[Schema.MAX_ROW_BYTES - Integer.BYTES];
        try (VersionedRows table = VersionedRows.open(folder)) {
            try (VersionBuilder loading = table.begin(1, blobs, rows)) {
                for (int key = 0; key < rows; key++) {
                    blob[key] = (byte) (key + 1);
                    loading.put(key, loading.writer().setBytes(0, blob));
                    blob[key] = 0;
                }
                loading.seal();
            }
        }
        try (VersionedRows table = VersionedRows.open(folder)) {
            assertEquals(0, table.current());
            table.publish(1);
            assertTrue(table.stats().valueBytes() > 2L * Values.CHUNK_BYTES);
            try (VersionedRows.Reader reader = table.reader()) {
                RowBatch batch = RowBatch.onHeap();
                for (int key = 0; key < rows; key++) {
                    reader.getAll(new long[] {key}, batch);
                    MemorySegment read = batch.getBytes(0, 0);
                    assertEquals(blob.length, read.byteSize());
                    assertEquals(key + 1, read.get(ValueLayout.JAVA_BYTE, key));
                }
            }
        }
    }

    @Test
    void columnsAreReadInTheOrderThatTheyAreAskedForIn() throws IOException {
        Map<Long, Row> rows = randomRows(new Random(29), 50);
        try (VersionedRows table = VersionedRows.open(folder);
                VersionedRows.Reader reader = table.reader()) {
            publish(table, 1, rows);
            RowBatch batch = RowBatch.onHeap();
            for (long key : rows.keySet()) {
                reader.getAll(new long[] {5, key}, batch, "digest", "blob", "year", "score", "name");
                assertEquals(
                        List.of("digest", "blob", "year", "score", "name"),
                        batch.schema().columns().stream().map(Column::name).toList());
                Row row = Objects.requireNonNull(rows.get(key));
                assertFalse(batch.isPresent(0));
                assertArrayEquals(row.digest, batch.getBytes(1, 0).toArray(ValueLayout.JAVA_BYTE));
                assertArrayEquals(row.blob, batch.getBytes(1, 1).toArray(ValueLayout.JAVA_BYTE));
                assertEquals(row.year, batch.getInt(1, 2));
                assertEquals(Float.floatToRawIntBits(row.score), Float.floatToRawIntBits(batch.getFloat(1, 3)));
                assertEquals(row.name, batch.getText(1, 4));
            }
            Throwable refused =
                    assertThrows(IllegalArgumentException.class, () -> reader.getAll(new long[1], batch, "color"));
            assertTrue(String.valueOf(refused.getMessage()).endsWith("digest], got color"), refused::getMessage);
        }
    }

    @Test
    void aCallersBufferIsFilledOrLeftAsItWas() throws IOException {
        Map<Long, Row> rows = randomRows(new Random(30), 100);
        try (VersionedRows table = VersionedRows.open(folder);
                VersionedRows.Reader reader = table.reader();
                Arena arena = Arena.ofConfined()) {
            publish(table, 3, rows);
            MemorySegment keys = arena.allocateFrom(
                    ValueLayout.JAVA_LONG,
                    rows.keySet().stream().mapToLong(k -> k).toArray());
            RowBatch batch = RowBatch.in(arena.allocate(100_000));
            assertEquals(100, reader.getAll(0, keys, 100, batch, List.of()));
            long bytes = batch.memory().byteSize();
            RowBatch onHeap = RowBatch.onHeap();
            reader.getAll(0, keys, 100, onHeap, List.of());
            for (RowBatch each : List.of(batch, onHeap)) {
                ByteArrayOutputStream written = new ByteArrayOutputStream();
                each.writeTo(written);
                assertArrayEquals(batch.memory().toArray(ValueLayout.JAVA_BYTE), written.toByteArray());
            }
            RowBatch exact = RowBatch.in(arena.allocate(bytes));
            reader.getAll(0, keys, 100, exact, List.of());
            assertEquals(-1, batch.memory().mismatch(exact.memory()));
            RowBatch small = RowBatch.in(arena.allocate(bytes - 1));
            Throwable refused =
                    assertThrows(IllegalArgumentException.class, () -> reader.getAll(0, keys, 100, small, List.of()));
            assertEquals(
                    "buffer must have " + bytes + " bytes for these rows, got " + (bytes - 1), refused.getMessage());
            assertEquals(0, small.size());
            // What another process would make of the bytes.
            RowBatch received = RowBatch.of(SCHEMA, 3, 100, batch.memory());
            assertEquals(100, received.present());
            for (int i = 0; i < 100; i++) {
                Row row = Objects.requireNonNull(rows.get(keys.getAtIndex(ValueLayout.JAVA_LONG, i)));
                row.assertIs(received, i);
            }
        }
    }

    @Test
    void batchesFromOutsideAreNotBelieved() throws IOException {
        Map<Long, Row> rows = randomRows(new Random(31), 20);
        try (VersionedRows table = VersionedRows.open(folder);
                VersionedRows.Reader reader = table.reader()) {
            publish(table, 3, rows);
            RowBatch batch = RowBatch.onHeap();
            long[] keys = rows.keySet().stream().mapToLong(k -> k).toArray();
            reader.getAll(keys, batch);
            byte[] bytes = batch.memory().toArray(ValueLayout.JAVA_BYTE);
            Random random = new Random(32);
            for (int i = 0; i < 5_000; i++) {
                byte[] damaged = bytes.clone();
                damaged[random.nextInt(i % 2 == 0 ? 4 * keys.length : bytes.length)] = (byte) random.nextInt();
                try {
                    RowBatch received = RowBatch.of(SCHEMA, 3, keys.length, MemorySegment.ofArray(damaged));
                    for (int key = 0; key < keys.length; key++) {
                        if (received.isPresent(key)) {
                            received.getText(key, 0);
                            received.getBytes(key, 3);
                            received.getBytes(key, 6);
                        }
                    }
                } catch (IllegalArgumentException refused) {
                    assertFalse(String.valueOf(refused.getMessage()).isEmpty());
                }
            }
            MemorySegment cut = MemorySegment.ofArray(bytes).asSlice(0, bytes.length - 1L);
            assertThrows(IllegalArgumentException.class, () -> RowBatch.of(SCHEMA, 3, keys.length, cut));
        }
    }

    @Test
    void floatingPointNumbersKeepTheirBitsThoseThatAreNoneToo() throws IOException {
        Schema schema = Schema.of(Column.ofFloat("float"), Column.ofDouble("double"));
        int[] floats = {0x7fc00000, 0x7f800001, 0xffc12345, 0x80000000, Float.floatToRawIntBits(1.5f)};
        long[] doubles = {0x7ff8000000000000L, 0x7ff0000000000001L, 0xfff8123456789abcL, Long.MIN_VALUE, 1};
        try (VersionedRows table = VersionedRows.open(folder)) {
            try (VersionBuilder loading = table.begin(1, schema)) {
                RowWriter row = loading.writer();
                for (int key = 0; key < floats.length; key++) {
                    loading.put(
                            key,
                            row.setFloat(0, Float.intBitsToFloat(floats[key]))
                                    .setDouble(1, Double.longBitsToDouble(doubles[key])));
                }
                loading.seal();
            }
            table.publish(1);
        }
        try (VersionedRows table = VersionedRows.open(folder);
                VersionedRows.Reader reader = table.reader()) {
            RowBatch rows = RowBatch.onHeap();
            reader.getAll(new long[] {0, 1, 2, 3, 4}, rows);
            for (int key = 0; key < floats.length; key++) {
                assertEquals(floats[key], Float.floatToRawIntBits(rows.getFloat(key, 0)));
                assertEquals(doubles[key], Double.doubleToRawLongBits(rows.getDouble(key, 1)));
            }
        }
    }

    @Test
    void aKeyThatIsLoadedTwiceIsRefusedByName() throws IOException {
        try (VersionedRows table = VersionedRows.open(folder);
                VersionBuilder loading = table.begin(1, SCHEMA)) {
            loading.put(4_711, loading.writer().setInt(1, 1));
            Throwable refused = assertThrows(
                    IllegalArgumentException.class,
                    () -> loading.put(4_711, loading.writer().setInt(1, 2)));
            assertEquals("key 4711 must be loaded once, got it twice", refused.getMessage());
            loading.put(4_712, loading.writer());
            loading.seal();
            table.publish(1);
            try (VersionedRows.Reader reader = table.reader()) {
                RowBatch rows = RowBatch.onHeap();
                assertEquals(2, reader.getAll(new long[] {4_711, 4_712}, rows, "year"));
                assertEquals(1, rows.getInt(0, 0));
            }
        }
    }

    @Test
    void upsertsAreSeenAndSealedWithTheNextVersion() throws IOException {
        Random random = new Random(33);
        Map<Long, Row> rows = randomRows(random, 500);
        try (VersionedRows table = VersionedRows.builder(folder)
                        .updates(VersionedRows.Updates.UPSERTS)
                        .open();
                VersionedRows.Reader reader = table.reader()) {
            publish(table, 1, rows);
            assertRows(rows, reader, 0);
            RowWriter writer = SCHEMA.writer();
            for (long key : rows.keySet().stream().limit(200).toList()) {
                assertTrue(table.remove(key));
                assertFalse(table.remove(key));
                rows.remove(key);
            }
            for (long key = 0; key < 2_000; key++) {
                Row row = Row.random(random);
                rows.put(key, row);
                table.upsert(key, row.write(writer));
            }
            assertRows(rows, reader, 0);
            assertTrue(table.stats().replacedBytes() > 0);
            try (VersionBuilder next = table.begin(2, SCHEMA)) {
                Row row = Row.random(random);
                rows.put(1L, row);
                next.put(1, row.write(next.writer()));
                assertEquals(rows.size() - 1, next.putOthersOfCurrent());
                next.seal();
            }
            table.publish(2);
            assertEquals(0, table.stats().replacedBytes());
            assertRows(rows, reader, 2);
        }
        try (VersionedRows table = VersionedRows.open(folder);
                VersionedRows.Reader reader = table.reader()) {
            assertRows(rows, reader, 2);
            assertThrows(UnsupportedOperationException.class, () -> table.upsert(1, SCHEMA.writer()));
        }
    }

    @Test
    @SuppressWarnings("try") // closed in the midst, and again
    void whatIsNotThereIsRefused() throws IOException {
        try (VersionedRows table = VersionedRows.open(folder);
                VersionedRows.Reader reader = table.reader()) {
            RowBatch rows = RowBatch.onHeap();
            assertThrows(IllegalStateException.class, () -> reader.getAll(new long[1], rows));
            assertThrows(IllegalStateException.class, rows::schema);
            publish(table, 5, Map.of());
            assertEquals(0, reader.getAll(new long[3], rows));
            assertEquals(0, reader.getAll(new long[0], rows));
            assertEquals(
                    "version must be one of [5], got 4",
                    assertThrows(
                                    VersionedRows.VersionGoneException.class,
                                    () -> reader.getAll(4, new long[1], rows, List.of()))
                            .getMessage());
            assertThrows(IllegalArgumentException.class, () -> table.begin(0, SCHEMA));
            assertEquals(
                    "version must be new, got 5, which is there already",
                    assertThrows(IllegalArgumentException.class, () -> table.begin(5, SCHEMA))
                            .getMessage());
            assertThrows(IllegalArgumentException.class, () -> table.unload(5));
            table.unload(6);
            try (VersionBuilder loading = table.begin(6, SCHEMA)) {
                assertThrows(IllegalArgumentException.class, () -> table.begin(6, SCHEMA));
                assertThrows(IllegalArgumentException.class, () -> loading.put(1, MemorySegment.ofArray(new byte[3])));
                assertThrows(
                        IllegalArgumentException.class, () -> loading.writer().setLong(1, 1));
                assertThrows(
                        IllegalArgumentException.class, () -> loading.writer().setBytes(6, new byte[4]));
            }
            // It was not sealed.
            assertThrows(IOException.class, () -> table.publish(6));
            assertEquals(5, table.current());
            table.begin(6, SCHEMA).close();
            table.close();
            table.close();
            assertThrows(IllegalStateException.class, () -> reader.getAll(new long[1], rows));
            assertThrows(IllegalStateException.class, table::current);
            assertThrows(IllegalStateException.class, table::reader);
        }
    }

    @Test
    void aFolderIsOpenedOnceAndDraftsOfKilledProcessesAreRemoved() throws IOException {
        Path draft = Files.createFile(folder.resolve(".version-3.roost-123.part"));
        Path foreign = Files.createFile(folder.resolve("notes.part"));
        try (VersionedRows table = VersionedRows.open(folder)) {
            assertFalse(Files.exists(draft));
            assertTrue(Files.exists(foreign));
            IOException refused = assertThrows(IOException.class, () -> VersionedRows.open(folder));
            assertEquals(folder + " is the folder of an open table", refused.getMessage());
            assertEquals(List.of(), table.sealedVersions());
        }
        VersionedRows.open(folder).close();
    }

    @Test
    void filesThatOnlyHaveNamesLikeItsOwnAreKept() throws IOException {
        Path notes = Files.writeString(folder.resolve(".version-1.roost-notes.part"), "notes");
        Path version = Files.writeString(folder.resolve("version-1.roost"), "of something else");
        try (VersionedRows table = VersionedRows.open(folder)) {
            for (long number = 2; number <= 5; number++) {
                publish(table, number, Map.of());
            }
            assertEquals(List.of(1L, 4L, 5L), table.sealedVersions());
        }
        assertEquals("notes", Files.readString(notes));
        assertEquals("of something else", Files.readString(version));
    }

    @Test
    void theFileOfTheVersionBeforeIsKept() throws IOException {
        try (VersionedRows table = VersionedRows.open(folder)) {
            for (long version = 1; version <= 4; version++) {
                publish(table, version, Map.of());
            }
            assertEquals(List.of(3L, 4L), table.sealedVersions());
            assertEquals(List.of(4L, 3L), table.liveVersions());
        }
    }

    @Test
    void aPublicationThatCannotBeWrittenLeavesBothLiveVersions() throws IOException {
        try (VersionedRows table = VersionedRows.open(folder)) {
            publish(table, 1, Map.of());
            publish(table, 2, Map.of());
            try (VersionBuilder loading = table.begin(3, SCHEMA)) {
                loading.seal();
            }
            Path current = folder.resolve("current");
            Files.delete(current);
            Files.createDirectories(current.resolve("in the way"));
            for (int i = 0; i < 2; i++) {
                assertThrows(IOException.class, () -> table.publish(3));
                assertEquals(List.of(2L, 1L), table.liveVersions());
            }
            Files.delete(current.resolve("in the way"));
            Files.delete(current);
            table.publish(3);
            assertEquals(List.of(3L, 2L), table.liveVersions());
        }
    }

    @Test
    void aVersionThatCannotBeWrittenCanBeSealedAgain() throws IOException {
        Path moved = folder.resolve("moved");
        Path own = Files.createDirectory(folder.resolve("own"));
        try (VersionedRows table = VersionedRows.open(own);
                VersionBuilder loading = table.begin(1, SCHEMA)) {
            loading.put(1, loading.writer());
            Files.move(own, moved);
            assertThrows(IOException.class, loading::seal);
            Files.move(moved, own);
            loading.seal();
            assertThrows(IllegalStateException.class, loading::seal);
            table.publish(1);
            assertEquals(1, table.stats().rows());
        }
    }

    @Test
    void schemasAreChecked() {
        assertThrows(IllegalArgumentException.class, () -> Schema.of());
        assertThrows(IllegalArgumentException.class, () -> Schema.of(Column.ofInt("a"), Column.ofLong("a")));
        assertThrows(IllegalArgumentException.class, () -> Column.ofInt(""));
        assertThrows(IllegalArgumentException.class, () -> Column.ofFixedBytes("a", 0));
        assertThrows(IllegalArgumentException.class, () -> new Column("a", Column.Type.INT, 8));
        assertThrows(
                IllegalArgumentException.class,
                () -> Schema.of(Column.ofText("a"))
                        .writer()
                        .setText(0, "x".repeat(Schema.MAX_ROW_BYTES))
                        .row());
    }
}
