package io.github.roost.server;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** Resource files of the program. */
final class Resources {
    private Resources() {}

    /** @param name of a file in this class's package */
    static byte[] bytes(String name) {
        try (InputStream in = Resources.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException("the resource " + name + " is missing");
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
