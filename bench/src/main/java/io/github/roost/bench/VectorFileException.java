package io.github.roost.bench;

import java.io.IOException;
import java.nio.file.Path;

/** Thrown if a vector file is invalid; the message names the file and says what is wrong with it. */
public final class VectorFileException extends IOException {
    private static final long serialVersionUID = 1;

    public VectorFileException(Path file, String wrong) {
        super(file + " " + wrong);
    }
}
