package io.github.roost.documents.file;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import org.h2.store.fs.FilePath;
import org.h2.store.fs.FilePathWrapper;

/** The prefix of a file's name by which MVStore opens it as a {@link SteadyFile}. Public, since MVStore creates objects of it. */
public final class SteadyFilePath extends FilePathWrapper {
    private static final String SCHEME = "roost";

    /** For MVStore. */
    public SteadyFilePath() {}

    /** {@return the name by which MVStore opens a file} */
    static String nameOf(Path file) {
        FilePath.register(new SteadyFilePath());
        return SCHEME + ":" + file;
    }

    @Override
    public FileChannel open(String mode) throws IOException {
        return new SteadyFile(Path.of(getBase().toString()), mode);
    }

    @Override
    public String getScheme() {
        return SCHEME;
    }
}
