package io.github.roost.bench;

import java.io.IOException;
import java.nio.file.Path;

/** A vector file that cannot be what it should be; the message names the file and what is wrong with it. */
public final class VectorFileException extends IOException {
    private static final long serialVersionUID = 1;

    public VectorFileException(Path file, String wrong) {
        super(file + " " + wrong);
    }
}
