package io.github.roost.examples.cli;

import java.nio.file.Files;
import java.nio.file.Path;

/** Where the checkout is that the launcher runs in. Stateless. */
final class RoostHome {
    private RoostHome() {}

    /** The folder of the Debian packages. */
    static Path packages() {
        return home().resolve("examples/data/debian-packages");
    }

    /** A folder of the checkout; the present one where there is no checkout. */
    static Path folder(String name) {
        Path folder = home().resolve(name);
        return Files.isDirectory(folder) ? folder : Path.of("");
    }

    /** The checkout; the present folder where the launcher did not say. */
    static Path checkout() {
        return home().toAbsolutePath().normalize();
    }

    private static Path home() {
        return Path.of(System.getProperty("roost.home", ""));
    }
}
