package io.github.roost.documents;

import io.github.roost.documents.file.CollectionState;
import io.github.roost.documents.file.DocumentFile;
import io.github.roost.index.hnsw.LiveTable;
import io.github.roost.vector.ElementType;
import io.github.roost.vector.TableFormat;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The vector table of a collection. It is derived from the documents: a saved table, and the changes since, or all vectors, if none is saved or the
 * saved one is damaged. A change is brought over by its row, as the documents have it now, so a change that the saved table has already does no
 * harm.
 */
final class VectorTableFiles {
    private static final Logger LOG = LoggerFactory.getLogger(VectorTableFiles.class);

    /** Documents of which a collection takes less memory. */
    static final int FEW = 256;
    /** Dimensions from which codes of 8 bits save searches more time than they cost memory. */
    private static final int MIN_CODED = 64;

    private final OpenStore store;
    private final String name;

    VectorTableFiles(OpenStore store, String name) {
        this.store = store;
        this.name = name;
    }

    /**
     * Opens the table.
     *
     * @param state of the collection, with a dimension
     * @param documents the number of documents
     * @return a table with the vectors of all documents
     */
    LiveTable open(CollectionState state, int documents) {
        if (state.snapshot() > 0) {
            Path saved = path(state.number(), state.snapshot());
            try {
                LiveTable table = Uninterrupted.call(() -> LiveTable.open(store.orchestrator(), tableName(), saved));
                boolean isUpToDate = false;
                try {
                    isUpToDate = bringUpToDate(table, state) && table.size() == documents;
                } finally {
                    if (!isUpToDate) {
                        table.close();
                    }
                }
                if (isUpToDate) {
                    return table;
                }
                LOG.warn("{} does not fit the documents of '{}': its vectors are indexed again", saved, name);
            } catch (IOException damaged) {
                LOG.warn("{} is missing or damaged: the vectors of '{}' are indexed again", saved, name, damaged);
            }
        }
        return ofVectors(state, state.snapshot() == 0 && documents <= FEW);
    }

    private boolean bringUpToDate(LiveTable table, CollectionState state) {
        if (table.dimension() != state.dimension() || table.metric() != store.metric()) {
            return false;
        }
        DocumentFile file = store.file();
        file.forEachChangedRow(state.number(), state.snapshot(), row -> {
            float[] vector = file.vector(state.number(), (int) row);
            if (vector == null) {
                table.remove(row);
            } else {
                table.put(row, vector);
            }
        });
        return true;
    }

    /** {@return a table of the vectors that the file has, which takes less memory if they stay few} */
    LiveTable ofVectors(CollectionState state, boolean areFew) {
        LiveTable.Builder builder = LiveTable.builder().name(tableName()).metric(store.metric());
        if (areFew) {
            builder.mergeAfter(FEW);
        } else if (state.dimension() >= MIN_CODED) {
            builder.elementType(ElementType.INT8);
        }
        LiveTable table = builder.build(store.orchestrator(), state.dimension());
        try {
            store.file().forEachVector(state.number(), (row, vector) -> table.put(row, vector));
        } catch (Throwable failed) {
            table.close();
            throw failed;
        }
        return table;
    }

    private String tableName() {
        return store.folder().getFileName() + "/" + name;
    }

    /** Saves a table that has at least the changes up to the given one. */
    void save(LiveTable table, int number, long change) throws IOException {
        store.requireInPlace();
        Path path = path(number, change);
        Uninterrupted.call(() -> {
            Files.createDirectories(path.getParent());
            table.save(path);
            return path;
        });
    }

    /** Deletes the saved tables of a collection, except that of the given change, and what killed processes have left of them; nothing else. */
    void deleteOthers(int number, long change) throws IOException {
        Path kept = path(number, change);
        Pattern table = Pattern.compile(number + "-\\d+\\.roost");
        Pattern draft = Pattern.compile("\\." + table + "-[0-9a-f-]{36}\\.part");
        try (DirectoryStream<Path> files = Files.newDirectoryStream(kept.getParent())) {
            for (Path file : files) {
                String called = file.getFileName().toString();
                boolean isOther = table.matcher(called).matches()
                        && !file.equals(kept)
                        && Uninterrupted.call(() -> TableFormat.of(file)).isPresent();
                if (isOther || draft.matcher(called).matches()) {
                    Files.deleteIfExists(file);
                }
            }
        } catch (NoSuchFileException none) {
            // No table has been saved yet.
        }
    }

    private Path path(int number, long change) {
        return store.folder().resolve("tables").resolve(number + "-" + change + ".roost");
    }
}
