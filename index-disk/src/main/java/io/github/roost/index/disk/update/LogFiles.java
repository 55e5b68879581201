package io.github.roost.index.disk.update;

import io.github.roost.index.disk.format.Folders;
import io.github.roost.index.disk.format.Superblock;
import io.github.roost.io.BlockFile;
import io.github.roost.io.BlockIo;
import io.github.roost.vector.FileFormatException;
import io.github.roost.vector.file.HeldFile;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The files of a table's two logs, which are used in turn, next to the table's. They are held, so that no table is saved in their places. */
public final class LogFiles implements AutoCloseable {
    private static final int COUNT = 2;

    private final List<BlockFile> files = new ArrayList<>();
    private final List<HeldFile> held = new ArrayList<>();

    /** Opens the logs of a table, or creates them if the table is whole without them. */
    LogFiles(BlockIo io, Path table, Superblock root) throws IOException {
        try {
            for (int i = 0; i < COUNT; i++) {
                Path log = pathOf(table, i);
                if (!root.isWhole()) {
                    requireThere(io, table, root, i);
                }
                HeldFile right = Folders.hold(log);
                if (right != null) {
                    held.add(right);
                }
                BlockFile file = io.openForUpdate(log);
                files.add(file);
                UpdateLog.requireLog(file);
            }
            // The logs' directory entries must be durable before their content.
            Folders.sync(table);
        } catch (Throwable failed) {
            close();
            throw failed;
        }
    }

    /** Before a log is created: a table that was not closed and lacks one of its logs has lost updates. */
    private static void requireThere(BlockIo io, Path table, Superblock root, int index) throws IOException {
        Path log = pathOf(table, index);
        try (BlockFile existing = io.open(log)) {
            if (existing.blocks() > 0 || index != root.sequence() % COUNT) {
                return;
            }
        } catch (NoSuchFileException | FileNotFoundException none) {
            throw missing(table, log, root);
        }
        throw missing(table, log, root);
    }

    static FileFormatException missing(Path table, Path log, Superblock root) {
        return new FileFormatException(
                table,
                0,
                "was not closed, so updates are in its logs, and " + log + " holds no log of checkpoint "
                        + root.sequence()
                        + ": a table that is moved or opened by another name needs its logs beside it");
    }

    public static Path pathOf(Path table, int index) {
        return table.resolveSibling(table.getFileName() + ".log" + index);
    }

    /** The file of the log after a checkpoint. */
    BlockFile of(long generation) {
        return files.get((int) (generation % COUNT));
    }

    List<BlockFile> all() {
        return files;
    }

    @Override
    public void close() {
        files.forEach(BlockFile::close);
        held.forEach(HeldFile::close);
    }
}
