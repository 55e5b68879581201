package io.github.roost.simulator.options;

import java.nio.file.Files;
import java.nio.file.Path;

/** Locates the checkout of the launcher. Stateless. */
public final class RoostHome {
    private RoostHome() {}

    /** The folder of the Debian packages. */
    public static Path packages() {
        return home().resolve("data/debian-packages");
    }

    /** The folder of a library that Roost is compared with. */
    public static Path peer(String name) {
        return home().resolve("bench/target/peers").resolve(name);
    }

    /** A folder of the checkout; the current folder if there is no checkout. */
    public static Path folder(String name) {
        Path folder = home().resolve(name);
        return Files.isDirectory(folder) ? folder : Path.of("");
    }

    /** The checkout; the current folder if the launcher did not pass one. */
    public static Path checkout() {
        return home().toAbsolutePath().normalize();
    }

    private static Path home() {
        return Path.of(System.getProperty("roost.home", ""));
    }
}
