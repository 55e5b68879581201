package io.github.roost.index.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MappedMemoryTest extends RemoteMemoryContract {
    @Override
    protected Provided provide(Path file) {
        return new Provided(
                RemoteMemory.mapped(Objects.requireNonNull(file.getParent())),
                file.getFileName().toString());
    }

    @Test
    void namesThatLeadOutOfTheFolderAreRefused(@TempDir Path folder) throws Exception {
        Path inner = Files.createDirectory(folder.resolve("inner"));
        Path file = Files.write(folder.resolve("outside"), new byte[100]);
        for (String name : List.of(file.toString(), "../outside")) {
            assertThatThrownBy(() -> RemoteMemory.mapped(inner).open(name))
                    .isInstanceOf(RemoteMemoryException.class)
                    .hasMessage(name + " is not in " + inner);
        }
        RemoteMemory.mapped(folder).open("inner/../outside").close();
    }

    @Test
    void whereTheFileWasCutShortTransfersAndCompareAndSetsFailByName(@TempDir Path folder) throws Exception {
        Path file = Files.write(folder.resolve("cut.region"), new byte[100_000]);
        try (RemoteMemory.Region region = RemoteMemory.mapped(folder).open("cut.region");
                FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.truncate(0);
            assertThatThrownBy(() -> region.compareAndSet(80_000, 0, 1).join())
                    .hasCauseInstanceOf(RemoteMemoryException.class)
                    .hasMessageContaining("cut.region is closed or cut short");
            MemorySegment word = Arena.ofAuto().allocate(8, 8);
            // Compiled code goes on for a while after a read that fails: then the error comes as the JVM throws it.
            assertThatThrownBy(() -> region.get(List.of(new RemoteMemory.Region.Transfer(80_000, word)))
                            .join())
                    .satisfiesAnyOf(
                            failure -> assertThat(failure).hasMessageContaining("cut.region is closed or cut short"),
                            failure -> assertThat(failure).isInstanceOf(InternalError.class));
        }
    }
}
