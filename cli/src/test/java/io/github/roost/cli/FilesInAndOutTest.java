package io.github.roost.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.bench.OrdinalRows;
import io.github.roost.core.Orchestrator;
import io.github.roost.index.disk.DiskTable;
import io.github.roost.index.disk.MutableDiskTable;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.index.remote.RemoteMemory;
import io.github.roost.index.remote.RemoteTable;
import io.github.roost.io.BlockIo;
import io.github.roost.simulator.options.CommandFailure;
import io.github.roost.testkit.MadeUp;
import io.github.roost.vector.FileFormatException;
import io.github.roost.vector.file.HeldFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Random;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Files that commands read and write: what is wrong with one is said in one line that names it. */
class FilesInAndOutTest {
    private static final int ROWS = 60;
    private static final int FIRST_ZERO = 17;

    @TempDir
    @SuppressWarnings("NullAway.Init")
    private Path folder;

    @SuppressWarnings("NullAway.Init")
    private Path zeros;

    @SuppressWarnings("NullAway.Init")
    private Path queries;

    @BeforeEach
    void write() throws IOException {
        float[][] rows = MadeUp.gaussian(ROWS, 4, new Random(1));
        queries = folder.resolve("q.fvecs");
        FloatVectors.write(queries, new float[][] {rows[3], rows[20], rows[ROWS - 1]});
        rows[FIRST_ZERO] = new float[4];
        rows[40] = new float[4];
        zeros = folder.resolve("zeros.fvecs");
        FloatVectors.write(zeros, rows);
    }

    @ParameterizedTest
    @ValueSource(strings = {"hnsw", "ivf", "disk"})
    void rowsOfZerosAreRefusedUnderCosineOrLeftOut(String index) throws IOException {
        Path table = folder.resolve("table");
        String what = "roost: " + zeros + " has 2 rows of zeros, which have no cosine, the first is row 17; ";

        CommandRun refused = CommandRun.of("build", index, "--base", zeros, "--out", table, "--metric", "cosine");
        assertThat(refused.status()).isEqualTo(1);
        assertThat(refused.err().lines()).containsExactly(what + "--skip-zero leaves them out");
        assertThat(table).doesNotExist();

        CommandRun built =
                CommandRun.of("build", index, "--base", zeros, "--out", table, "--metric", "cosine", "--skip-zero");
        assertThat(built.complaints()).containsExactly(what + "left out");
        assertThat(built.out()).contains("58 rows x 4");

        Path found = folder.resolve("r.ivecs");
        CommandRun searched = searchedOnce(index, table, found);
        assertThat(searched.complaints()).isEmpty();
        assertThat(OrdinalRows.readTruth(found, 3, 1, ROWS)).isDeepEqualTo(new int[][] {{3}, {20}, {ROWS - 1}});
        CommandRun measured = CommandRun.of(
                "search",
                index,
                "--table",
                table,
                "--query",
                queries,
                "--k",
                1,
                "--truth",
                found,
                "--warm-up",
                0,
                "--seconds",
                .1);
        assertThat(measured.complaints()).isEmpty();
        assertThat(measured.out()).contains("1.0000");
    }

    @Test
    void rowsOfZerosAreRowsUnderOtherMetrics() {
        CommandRun built = CommandRun.of("build", "ivf", "--base", zeros, "--out", folder.resolve("table"));
        assertThat(built.complaints()).isEmpty();
        assertThat(built.out()).contains("60 rows x 4");
    }

    @Test
    void aFileOfZerosHasNoRowsForCosine() throws IOException {
        FloatVectors.write(zeros, new float[3][4]);
        CommandRun refused = CommandRun.of(
                "build", "ivf", "--base", zeros, "--out", folder.resolve("t"), "--metric", "cosine", "--skip-zero");
        assertThat(refused.err())
                .isEqualToIgnoringNewLines("roost: " + zeros + " has only rows of zeros, which have no cosine");
    }

    @Test
    void aQueryOfZerosIsRefusedByItsRowBeforeTheTableIsBuilt() {
        CommandRun refused =
                CommandRun.of("search", "hnsw", "--base", queries, "--query", zeros, "--k", 1, "--metric", "cosine");
        assertThat(refused.err())
                .isEqualToIgnoringNewLines(
                        "roost: --query must have no zeros under cosine, but row 17 of " + zeros + " is zero");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    fvecs  |       | is empty
                    bvecs  |       | is empty
                    fbin   |       | is empty
                    hdf5   |       | cannot be read as HDF5: it has 0 bytes
                    fvecs  | 0     | has vectors of 0 dimensions: there must be 1 to 4,096
                    fvecs  | -1 0  | has vectors of -1 dimensions: there must be 1 to 4,096
                    fbin   | 5     | is truncated: 4 bytes are less than a header
                    fbin   | 5 0   | has vectors of 0 dimensions: there must be 1 to 4,096
                    u8bin  | 0 7   | has 0 rows: there must be at least one
                    i8bin  | 2 5   | is truncated or has a wrong header: 8 bytes are not 2 rows of 5 dimensions, 5 bytes each
                    f16bin | 1 5000 | has vectors of 5,000 dimensions: there must be 1 to 4,096
                    hdf5   | 1 2 3 | cannot be read as HDF5: it has 12 bytes
                    h5     | 1 2 3 4 5 6 7 8 9 10 11 12 | cannot be read as HDF5: No valid HDF5 signature found
                    """)
    void aFileThatIsNotVectorsIsOneLine(String extension, @Nullable String words, String what) throws IOException {
        String[] numbers = words == null ? new String[0] : words.split(" ");
        ByteBuffer bytes = ByteBuffer.allocate(numbers.length * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (String number : numbers) {
            bytes.putInt(Integer.parseInt(number));
        }
        Path file = Files.write(folder.resolve("bad." + extension), bytes.array());
        CommandRun run = CommandRun.of("build", "hnsw", "--base", file, "--out", folder.resolve("table"));
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.err().lines()).containsExactly("roost: " + file + " " + what);
    }

    @ParameterizedTest
    @ValueSource(strings = {"hnsw", "ivf", "disk", "remote"})
    void aRowOfAnotherWidthIsSaidOfTheFileThatHasIt(String index) throws IOException {
        ByteBuffer rows = ByteBuffer.allocate(60).order(ByteOrder.LITTLE_ENDIAN);
        rows.putInt(0, 4).putInt(20, 3).putInt(40, 4);
        Path ragged = Files.write(folder.resolve("ragged.fvecs"), rows.array());
        CommandRun run = CommandRun.of("build", index, "--base", ragged, "--out", folder.resolve("table"));
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.complaints()).containsExactly("roost: " + ragged + " has a row 1 of width 3, but row 0 has 4");
        assertThat(run.err()).doesNotContain("Exception");
        assertThat(folder.resolve("table")).doesNotExist();
    }

    private interface Failing {
        Exception of(Path draft);
    }

    static Stream<Failing> failures() {
        return Stream.of(
                draft -> new IOException("No space left on device"),
                draft -> new IOException(draft + " cannot be written: No space left on device"),
                draft -> new FileSystemException(draft.toString(), null, "No space left on device"),
                draft -> new UncheckedIOException(new IOException("No space left on device")));
    }

    @ParameterizedTest
    @MethodSource("failures")
    void aFullDiskIsSaidOfTheFileThatWasAskedFor(Failing failing) throws IOException {
        Path asked = folder.resolve("asked");
        try (OutputFile out = OutputFile.prepare("--out", asked)) {
            assertThatThrownBy(() -> out.write(draft -> {
                        switch (failing.of(draft)) {
                            case IOException failed -> throw failed;
                            case RuntimeException failed -> throw failed;
                            default -> throw new AssertionError("no such failure");
                        }
                    }))
                    .isInstanceOf(IOException.class)
                    .message()
                    .matches("\\Q" + asked + "\\E(:| cannot be written:) No space left on device");
        }
        assertThat(folder).isDirectoryNotContaining(path -> path.toString().endsWith(".part"));
    }

    @Test
    void aFailureToReadIsNotSaidOfTheResult() throws IOException {
        FileFormatException input = new FileFormatException(queries, "is truncated");
        try (OutputFile out = OutputFile.prepare("--out", folder.resolve("asked"))) {
            assertThatThrownBy(() -> out.write(draft -> {
                        throw new UncheckedIOException(input);
                    }))
                    .isSameAs(input);
        }
    }

    @Test
    void aTableIsNotWrittenToADevice() {
        assertThatThrownBy(() -> OutputFile.prepareTable("--out", Path.of("/dev/null")))
                .isInstanceOf(CommandFailure.class)
                .hasMessage("--out /dev/null is a pipe or a device, not a file");
    }

    @Test
    void aTableThatIsOpenForUpdatesIsNotReplacedNorIsItsLog() throws IOException {
        Path table = folder.resolve("table");
        assertThat(build("disk", queries, table).complaints()).isEmpty();
        try (Orchestrator orchestrator = Orchestrator.builder().build();
                BlockIo io = BlockIo.builder(orchestrator).build()) {
            try (MutableDiskTable open = DiskTable.open(orchestrator, io, "t", table)) {
                for (Path held : new Path[] {table, folder.resolve("table.log0"), folder.resolve("table.log1")}) {
                    assertThat(build("hnsw", queries, held).err().lines())
                            .containsExactly("roost: --out " + held
                                    + " is in use by an open table or a save, so it cannot be replaced");
                }
                open.put(1_000, new float[] {1, 2, 3, 4});
            }
            try (DiskTable again = DiskTable.openReadOnly(orchestrator, io, "t", table)) {
                assertThat(again.vector(1_000)).containsExactly(1, 2, 3, 4);
            }
        }
        assertThat(build("hnsw", queries, table).complaints()).isEmpty();
    }

    @Test
    void aPoolThatIsOpenIsNotReplaced() throws IOException {
        Path pool = folder.resolve("pool");
        assertThat(build("remote", queries, pool).complaints()).isEmpty();
        try (Orchestrator orchestrator = Orchestrator.builder().build();
                RemoteTable open = RemoteTable.builder().open(orchestrator, "p", RemoteMemory.mapped(folder), "pool")) {
            assertThat(open.size()).isEqualTo(3);
            assertThat(build("hnsw", queries, pool).complaints())
                    .containsExactly(
                            "roost: --out " + pool + " is in use by an open table or a save, so it cannot be replaced");
        }
    }

    @Test
    void aTableThatIsOpenedDuringTheBuildIsNotReplaced() throws IOException {
        Path table = folder.resolve("table");
        try (OutputFile out = OutputFile.prepareTable("--out", table);
                HeldFile held = HeldFile.toFill(table)) {
            assertThat(held).isNotNull();
            assertThatThrownBy(() -> out.write(draft -> Files.writeString(draft, "new")))
                    .isInstanceOf(IOException.class)
                    .hasMessage(table + " is in use by an open table or a save, so it cannot be replaced");
        }
        assertThat(table).isEmptyFile();
        assertThat(folder).isDirectoryNotContaining(path -> path.toString().endsWith(".part"));
    }

    @Test
    void aLinkIsFollowedAndOneThatLeadsNowhereIsRefused() throws IOException {
        Path table = folder.resolve("table");
        assertThat(build("ivf", queries, table).complaints()).isEmpty();
        Path link = Files.createSymbolicLink(folder.resolve("link"), Path.of("table"));
        FileTime written = FileTime.fromMillis(1);
        Files.setLastModifiedTime(table, written);
        assertThat(build("ivf", queries, link).complaints()).isEmpty();
        assertThat(Files.getLastModifiedTime(table)).isNotEqualTo(written);

        Files.delete(table);
        Path loop = Files.createSymbolicLink(folder.resolve("loop"), Path.of("loop"));
        for (Path nowhere : new Path[] {link, loop}) {
            assertThat(build("ivf", queries, nowhere).err().lines())
                    .containsExactly("roost: --out " + nowhere + " is a link to a file that does not exist");
            assertThat(nowhere).isSymbolicLink();
        }
    }

    @Test
    void theVectorsOfABuildAreNotOverwritten() throws IOException {
        byte[] vectors = Files.readAllBytes(queries);
        Path link = Files.createSymbolicLink(folder.resolve("link"), queries);
        for (Path out : new Path[] {queries, link}) {
            CommandRun refused = build("hnsw", queries, out);
            assertThat(refused.status()).isEqualTo(1);
            assertThat(refused.err().lines())
                    .containsExactly("roost: --out " + out + " is the file of --base, which it would overwrite");
        }
        assertThat(queries).hasBinaryContent(vectors);
    }

    @Test
    void anIdThatIvecsCannotHoldIsNamed() throws IOException {
        Path table = folder.resolve("table");
        try (Orchestrator orchestrator = Orchestrator.builder().build();
                HnswTable built = HnswTable.builder()
                        .name("t")
                        .build(orchestrator, new long[] {5_000_000_000L}, new float[][] {{1, 2, 3, 4}})) {
            built.save(table);
        }
        Path found = folder.resolve("r.ivecs");
        CommandRun run = searchedOnce("hnsw", table, found);
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.complaints())
                .containsExactly("roost: --out: row id 5000000000 does not fit an ivecs file's 32 bits");
        assertThat(found).doesNotExist();
    }

    private CommandRun searchedOnce(String index, Path table, Path found) {
        return CommandRun.of(
                "search",
                index,
                "--table",
                table,
                "--query",
                queries,
                "--k",
                1,
                "--out",
                found,
                "--warm-up",
                0,
                "--seconds",
                .1);
    }

    private static CommandRun build(String index, Path base, Path out) {
        return CommandRun.of("build", index, "--base", base, "--out", out);
    }
}
