package io.github.roost.examples.lucene;

import io.github.roost.bench.packages.DebianPackages;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.store.Directory;

/** Debian packages for tests: one in ten, so that an index stands in a moment. */
final class Packages {
    static final DebianPackages ALL = read();
    static final DebianPackages SOME = everyTenth(ALL);
    static final int SEGMENTS = 7;

    private Packages() {}

    /** A new index of {@link #SOME} in {@link #SEGMENTS} segments. */
    static Directory index() throws IOException {
        Directory directory = new ByteBuffersDirectory();
        PackageIndex.write(SOME, SEGMENTS, directory);
        return directory;
    }

    private static DebianPackages read() {
        try {
            return DebianPackages.read(Path.of("..", "data", "debian-packages"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static DebianPackages everyTenth(DebianPackages all) {
        List<DebianPackages.Package> packages = new ArrayList<>();
        List<float[]> vectors = new ArrayList<>();
        for (int row = 0; row < all.packages().size(); row += 10) {
            packages.add(all.packages().get(row));
            vectors.add(all.vectors()[row]);
        }
        return new DebianPackages(
                packages, vectors.toArray(float[][]::new), all.sections(), all.queries(), all.phrases());
    }
}
