package io.github.roost.documents.file;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.h2.store.fs.FilePath;
import org.h2.store.fs.FilePathWrapper;

/** The prefix of a file's name by which MVStore opens it as a {@link SteadyFile}. Public, since MVStore creates objects of it. */
public final class SteadyFilePath extends FilePathWrapper {
    private static final String SCHEME = "roost";
    /** Where this thread's opening puts its file, which MVStore leaves open if its own opening fails in most ways. */
    private static final ScopedValue<List<SteadyFile>> OPENED = ScopedValue.newInstance();

    /** For MVStore. */
    public SteadyFilePath() {}

    /** {@return the name by which MVStore opens a file} */
    static String nameOf(Path file) {
        FilePath.register(new SteadyFilePath());
        return SCHEME + ":" + file;
    }

    /** Runs an opening by {@link #nameOf}, and closes its file if that fails. */
    static <T> T closingIfFailed(ScopedValue.CallableOp<T, RuntimeException> opening) throws IOException {
        List<SteadyFile> opened = new ArrayList<>();
        try {
            return ScopedValue.where(OPENED, opened).call(opening);
        } catch (RuntimeException | Error failed) {
            for (SteadyFile file : opened) {
                file.close();
            }
            throw failed;
        }
    }

    @Override
    public FileChannel open(String mode) throws IOException {
        SteadyFile file = new SteadyFile(Path.of(getBase().toString()), mode);
        if (OPENED.isBound()) {
            OPENED.get().add(file);
        }
        return file;
    }

    @Override
    public String getScheme() {
        return SCHEME;
    }
}
