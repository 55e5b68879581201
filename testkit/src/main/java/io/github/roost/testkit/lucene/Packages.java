package io.github.roost.testkit.lucene;

import io.github.roost.testkit.packages.DebianPackages;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.IOContext;

/** Debian packages for tests: not all of them, so that an index stands in a moment. */
public final class Packages {
    public static final DebianPackages ALL = read();
    public static final DebianPackages SOME = oneIn(10);
    public static final DebianPackages FEW = oneIn(100);
    public static final int SEGMENTS = 7;

    private Packages() {}

    /** An index of {@link #SOME} in {@link #SEGMENTS} segments, the caller's own: written once and copied. */
    public static Directory index() throws IOException {
        Directory copy = new ByteBuffersDirectory();
        for (String file : Written.INDEX.listAll()) {
            copy.copyFrom(Written.INDEX, file, file, IOContext.DEFAULT);
        }
        return copy;
    }

    private static final class Written {
        static final Directory INDEX = write();

        private static Directory write() {
            Directory directory = new ByteBuffersDirectory();
            try {
                PackageIndex.write(SOME, SEGMENTS, directory);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return directory;
        }
    }

    private static DebianPackages read() {
        try {
            return DebianPackages.read(Path.of("..", "data", "debian-packages"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static DebianPackages oneIn(int step) {
        List<DebianPackages.Package> packages = new ArrayList<>();
        List<float[]> vectors = new ArrayList<>();
        for (int row = 0; row < ALL.packages().size(); row += step) {
            packages.add(ALL.packages().get(row));
            vectors.add(ALL.vectors()[row]);
        }
        return new DebianPackages(
                packages, vectors.toArray(float[][]::new), ALL.sections(), ALL.queries(), ALL.phrases());
    }
}
