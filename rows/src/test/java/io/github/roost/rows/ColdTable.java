package io.github.roost.rows;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.MappingId;
import io.github.roost.core.Orchestrator;
import io.github.roost.core.SubmitOptions;
import io.github.roost.io.BlockFile;
import io.github.roost.io.BlockIo;
import io.github.roost.io.FaultDevice;
import io.github.roost.topology.CacheDomain;
import io.github.roost.topology.Core;
import io.github.roost.topology.DomainLevel;
import io.github.roost.topology.Pinner;
import io.github.roost.topology.Topology;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** A table whose values do not fit into its memory, with rows that are known by their keys, on a disk that fails as disks do, or on a real one. */
final class ColdTable implements AutoCloseable {
    static final Schema SCHEMA = Schema.of(Column.ofLong("version"), Column.ofLong("key"), Column.ofText("pad"));

    final Orchestrator orchestrator;
    final BlockIo io;
    final MappingId id;
    final VersionedRows table;
    private final Path folder;

    /** With versions that {@link #seal} has sealed. */
    ColdTable(Path folder, long bytes, FaultDevice device, int workers) throws IOException {
        this(folder, bytes, device, orchestrator(workers));
    }

    private ColdTable(Path folder, long bytes, FaultDevice device, Orchestrator orchestrator) throws IOException {
        this(folder, bytes, orchestrator, device.io(orchestrator, 64));
    }

    ColdTable(Path folder, long bytes, Orchestrator orchestrator, BlockIo io) throws IOException {
        this(folder, bytes, orchestrator, io, VersionedRows.Updates.VERSIONS);
    }

    /** That takes upserts. */
    static ColdTable ofUpserts(Path folder, long bytes, FaultDevice device, int workers) throws IOException {
        Orchestrator orchestrator = orchestrator(workers);
        return new ColdTable(folder, bytes, orchestrator, device.io(orchestrator, 512), VersionedRows.Updates.UPSERTS);
    }

    ColdTable(Path folder, long bytes, Orchestrator orchestrator, BlockIo io, VersionedRows.Updates updates)
            throws IOException {
        this.folder = folder;
        this.orchestrator = orchestrator;
        this.io = io;
        this.id = orchestrator.register("queries").id();
        this.table = VersionedRows.builder(folder)
                .updates(updates)
                .valueMemory(bytes, orchestrator, io)
                .open();
    }

    static Orchestrator orchestrator(int workers) {
        List<Core> cores = java.util.stream.IntStream.range(0, workers)
                .mapToObj(core -> new Core(core, -1, List.of(core)))
                .toList();
        return Orchestrator.builder()
                .topology(new Topology(
                        "test", DomainLevel.L3, false, List.of(new CacheDomain(0, 32L << 20, List.of(0), 0, cores))))
                .pinner(core -> new Pinner.Result(core.pus(), List.of(), -1, false, "a made-up machine"))
                .build();
    }

    /** How long the last column of a key's row is: some rows are in two blocks, and some in several. */
    static int pad(long key) {
        return key % 97 == 0 ? 9_000 : Math.floorMod(key * 37, 700);
    }

    static void seal(VersionedRows table, long version, int rows) throws IOException {
        try (VersionBuilder loading = table.begin(version, SCHEMA)) {
            RowWriter row = loading.writer();
            for (long key = 0; key < rows; key++) {
                loading.put(key, row.setLong(0, version).setLong(1, key).setText(2, "x".repeat(pad(key))));
            }
            loading.seal();
        }
    }

    /** Puts the file of a version onto a disk that fails. */
    static FaultDevice copy(FaultDevice device, Path folder, long version) throws IOException {
        Path file = folder.resolve("version-" + version + ".roost");
        byte[] bytes = Files.readAllBytes(file);
        // Block I/O that is closed closes the disk.
        try (Orchestrator orchestrator = orchestrator(1);
                BlockFile copy = device.io(orchestrator, 1).openForUpdate(file);
                Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(bytes.length, BlockIo.BLOCK_BYTES);
            MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, 0, bytes.length);
            copy.write(0, memory);
        }
        return device;
    }

    Path file(long version) {
        return folder.resolve("version-" + version + ".roost");
    }

    CompletableFuture<RowBatch> fetch(long... keys) {
        return orchestrator.indexing().submitSteps(table.fetch(), keys, id, SubmitOptions.DEFAULT);
    }

    RowBatch read(long... keys) {
        RowBatch rows = RowBatch.onHeap();
        try (VersionedRows.Reader reader = table.reader()) {
            reader.getAll(keys, rows);
        }
        return rows;
    }

    /** That rows are those of keys, of which those from 0 to {@code present} are there. */
    static void check(RowBatch rows, long[] keys, int present) {
        assertThat(rows.size()).isEqualTo(keys.length);
        for (int i = 0; i < keys.length; i++) {
            boolean isThere = keys[i] >= 0 && keys[i] < present;
            if (rows.isPresent(i) != isThere
                    || (isThere
                            && (rows.getLong(i, 1) != keys[i]
                                    || rows.getLong(i, 0) != rows.version()
                                    || rows.getBytes(i, 2).byteSize() != pad(keys[i])))) {
                throw new AssertionError("key " + keys[i] + " has another row: " + rows.isPresent(i));
            }
        }
    }

    @Override
    public void close() {
        table.close();
        io.close();
        orchestrator.close();
        try (var files = Files.list(folder)) {
            assertThat(files.map(file -> file.getFileName().toString()).filter(name -> name.endsWith(".part")))
                    .isEmpty();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
