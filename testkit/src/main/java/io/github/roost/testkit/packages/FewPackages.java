package io.github.roost.testkit.packages;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.zip.GZIPOutputStream;

/** A data set of the form of the Debian packages, so small that its tables are built in no time. */
public final class FewPackages {
    public static final int PACKAGES = 400;
    static final String PHRASE = "a phrase";

    private FewPackages() {}

    /** Writes it to a folder: two sections of packages called {@code p0} and so on, and one phrase. */
    public static void write(Path folder) throws IOException {
        Files.createDirectories(folder);
        StringBuilder packages = new StringBuilder();
        for (int i = 0; i < PACKAGES; i++) {
            packages.append(i % 4 == 0 ? "games" : "net")
                    .append("\tp")
                    .append(i)
                    .append("\tpackage number ");
            packages.append(i).append('\n');
        }
        Random random = new Random(4);
        Files.write(folder.resolve("packages.tsv.gz"), gzip(packages.toString()));
        Files.write(folder.resolve("vectors.i8"), vectors(random, PACKAGES));
        Files.write(folder.resolve("queries.tsv.gz"), gzip("games\ta query\n"));
        Files.write(folder.resolve("queries.i8"), vectors(random, 1));
        Files.writeString(folder.resolve("phrases.txt"), PHRASE + "\n");
        Files.write(folder.resolve("phrases.i8"), vectors(random, 1));
    }

    private static byte[] vectors(Random random, int rows) {
        byte[] bytes = new byte[rows * DebianPackages.DIMENSION];
        random.nextBytes(bytes);
        return bytes;
    }

    private static byte[] gzip(String text) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (OutputStream out = new GZIPOutputStream(bytes)) {
            out.write(text.getBytes(StandardCharsets.UTF_8));
        }
        return bytes.toByteArray();
    }
}
