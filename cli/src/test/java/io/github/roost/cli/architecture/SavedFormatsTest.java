package io.github.roost.cli.architecture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.core.Orchestrator;
import io.github.roost.index.disk.DiskTable;
import io.github.roost.index.hnsw.HnswTable;
import io.github.roost.index.ivf.IvfTable;
import io.github.roost.io.BlockIo;
import io.github.roost.testkit.Machines;
import io.github.roost.vector.FileFormatException;
import io.github.roost.vector.TableFormat;
import io.github.roost.vector.file.TableFormats;
import java.io.IOException;
import java.io.InputStream;
import java.lang.module.ModuleDescriptor;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The formats of saved tables of all modules together. */
class SavedFormatsTest {
    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({
        "ROOSTHNW, an HNSW table, HnswTable.open",
        "ROOSTLIV, a live HNSW table, LiveTable.open",
        "ROSTIVF1, an IVF table, IvfTable.open",
        "ROOSTDSK, a table on disk, DiskTable.open",
        "ROSTTABL, a version of rows by keys, VersionedRows.open of its folder",
        "ROOSTRMP, a pool of remote memory, RemoteTable.open"
    })
    void everyFormatIsKnownByItsFirstBytes(String head, String title, String opener) throws IOException {
        assertThat(TableFormat.of(Files.writeString(folder.resolve("table"), head + "more")))
                .contains(new TableFormat(head, title, opener));
    }

    @Test
    void anIndexNamesTheOpenerOfAnotherIndexsFile() {
        assertThatThrownBy(() -> HnswTable.FORMAT.require(Path.of("t"), IvfTable.FORMAT.magic()))
                .isInstanceOf(FileFormatException.class)
                .hasMessage("t is an IVF table, not an HNSW table: use IvfTable.open (at byte 0)");
    }

    @Test
    void aDiskTableNamesTheOpenerOfAnotherIndexsFile() throws IOException {
        Path file = folder.resolve("t");
        Files.write(file, Arrays.copyOf("ROSTIVF1".getBytes(StandardCharsets.US_ASCII), 1 << 20));
        try (Orchestrator orchestrator = Machines.orchestrator(1, 1).build();
                BlockIo io = BlockIo.builder(orchestrator).build()) {
            assertThatThrownBy(() -> DiskTable.open(orchestrator, io, "t", file))
                    .isInstanceOf(FileFormatException.class)
                    .hasMessageContaining(file + " is an IVF table, not a table on disk: use IvfTable.open");
        }
    }

    @Test
    void modulesAndClassPathsHaveTheSameProviders() throws IOException {
        Set<String> provided = new TreeSet<>();
        for (URL url : Collections.list(getClass().getClassLoader().getResources("module-info.class"))) {
            try (InputStream in = url.openStream()) {
                ModuleDescriptor.read(in).provides().stream()
                        .filter(provides -> provides.service().equals(TableFormats.class.getName()))
                        .forEach(provides -> provided.addAll(provides.providers()));
            }
        }

        assertThat(ServiceLoader.load(TableFormats.class).stream()
                        .map(provider -> provider.type().getName())
                        .collect(Collectors.toSet()))
                .isEqualTo(provided);
    }
}
