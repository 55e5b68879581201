package io.github.roost.cli;

import java.nio.file.Files;
import java.nio.file.Path;

/** Locates the checkout of the launcher. Stateless. */
final class RoostHome {
    private RoostHome() {}

    /** The folder of the Debian packages. */
    static Path packages() {
        return home().resolve("data/debian-packages");
    }

    /** A folder of the checkout; the current folder if there is no checkout. */
    static Path folder(String name) {
        Path folder = home().resolve(name);
        return Files.isDirectory(folder) ? folder : Path.of("");
    }

    /** The checkout; the current folder if the launcher did not pass one. */
    static Path checkout() {
        return home().toAbsolutePath().normalize();
    }

    private static Path home() {
        return Path.of(System.getProperty("roost.home", ""));
    }
}
