package io.github.roost.index.remote.ucx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.roost.index.remote.RemoteMemory;
import io.github.roost.index.remote.RemoteMemoryContract;
import io.github.roost.index.remote.RemoteMemoryException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Over TCP; skipped where UCX cannot be loaded. */
@Tag("stress")
class UcxMemoryTest extends RemoteMemoryContract {
    @BeforeAll
    static void requireUcx() {
        assumeTrue(
                UcxMemory.unavailable().isEmpty(), () -> UcxMemory.unavailable().orElse(""));
    }

    String transports() {
        return "tcp";
    }

    @Override
    protected final Provided provide(Path file) throws IOException {
        UcxNode node = UcxNode.serve(file, "ucx://127.0.0.1:0", transports());
        closing(node);
        return new Provided(new UcxMemory(transports()), node.address());
    }

    @Test
    void addressesOfAnotherFormAreRefused() {
        UcxMemory memory = new UcxMemory(transports());
        for (String wrong :
                List.of("127.0.0.1:9", "ucx://127.0.0.1", "ucx://127.0.0.1:70000", "ucx://a:1/b", "ucx:///x")) {
            assertThatThrownBy(() -> memory.open(wrong))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("an address of UCX must be ucx://HOST:PORT with a port up to 65535, got " + wrong);
        }
    }

    @Test
    void whereNobodyListensNothingIsOpened(@TempDir Path other) throws Exception {
        Path file = Files.write(other.resolve("one"), new byte[8]);
        UcxNode node = UcxNode.serve(file, "ucx://127.0.0.1:0", transports());
        node.close();
        assertThatThrownBy(() -> new UcxMemory(transports()).open(node.address()))
                .isInstanceOf(RemoteMemoryException.class)
                .hasMessageContaining(node.address() + " cannot be reached");
    }

    @Test
    @SuppressWarnings("try")
    void aNodeThatIsClosedIsLostAtOnce(@TempDir Path other) throws Exception {
        Path file = Files.write(other.resolve("one"), new byte[8]);
        try (UcxNode node = UcxNode.serve(file, "ucx://127.0.0.1:0", transports());
                RemoteMemory.Region region = new UcxMemory(transports()).open(node.address())) {
            MemorySegment into = Arena.ofAuto().allocate(8);
            region.get(List.of(new RemoteMemory.Region.Transfer(0, into))).join();
            node.close();
            // The thread that looks at the connection finds out soon, and each get that waits is told.
            Throwable lost = null;
            while (lost == null) {
                lost = region.get(List.of(new RemoteMemory.Region.Transfer(0, into)))
                        .handle((done, failed) -> failed)
                        .join();
            }
            assertThat(lost)
                    .isInstanceOf(RemoteMemoryException.NodeLostException.class)
                    .hasMessageContaining("has lost its memory node");
        }
    }

    @Test
    @SuppressWarnings("try")
    void aNodeOutlivesReadersThatCloseWithReadsInProgress(@TempDir Path other) throws Exception {
        int bytes = 3_000_000;
        Path file = Files.write(other.resolve("large"), new byte[bytes]);
        try (UcxNode node = UcxNode.serve(file, "ucx://127.0.0.1:0", transports())) {
            for (int reader = 0; reader < 30; reader++) {
                List<CompletableFuture<Void>> reads = new ArrayList<>();
                try (RemoteMemory.Region region = new UcxMemory(transports()).open(node.address())) {
                    for (int i = 0; i < 20; i++) {
                        reads.add(region.get(List.of(new RemoteMemory.Region.Transfer(
                                0, Arena.ofAuto().allocate(bytes / 3)))));
                    }
                }
                assertThat(reads).allMatch(CompletableFuture::isDone);
            }
        }
    }

    @Test
    void memoryOfTheHeapIsRefused(@TempDir Path other) throws Exception {
        Path file = Files.write(other.resolve("one"), new byte[8]);
        try (UcxNode node = UcxNode.serve(file, "ucx://127.0.0.1:0", transports());
                RemoteMemory.Region region = new UcxMemory(transports()).open(node.address())) {
            assertThatThrownBy(() -> region.get(
                                    List.of(new RemoteMemory.Region.Transfer(0, MemorySegment.ofArray(new byte[8]))))
                            .join())
                    .hasMessageContaining("native memory");
        }
    }
}
