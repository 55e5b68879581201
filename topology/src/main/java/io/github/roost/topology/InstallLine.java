package io.github.roost.topology;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The command that installs hwloc on this platform. */
final class InstallLine {
    private static final Path OS_RELEASE = Path.of("/etc/os-release");
    private static final String DEFAULT = "install the package of hwloc 2.x";
    private static final Map<String, String> OF_DISTRIBUTION = new LinkedHashMap<>();

    static {
        OF_DISTRIBUTION.put("debian", "apt-get install libhwloc15");
        OF_DISTRIBUTION.put("ubuntu", "apt-get install libhwloc15");
        OF_DISTRIBUTION.put("fedora", "dnf install hwloc-libs");
        OF_DISTRIBUTION.put("rhel", "dnf install hwloc-libs");
        OF_DISTRIBUTION.put("suse", "zypper install libhwloc15");
        OF_DISTRIBUTION.put("alpine", "apk add hwloc");
        OF_DISTRIBUTION.put("arch", "pacman -S hwloc");
    }

    private InstallLine() {}

    static String ofThisPlatform() {
        String system = System.getProperty("os.name", "").toLowerCase(Locale.ROOT);
        if (system.startsWith("mac")) {
            return "brew install hwloc";
        }
        try {
            return of(Files.readAllLines(OS_RELEASE));
        } catch (IOException unknown) {
            return DEFAULT;
        }
    }

    /** The command for the distribution named in the lines of an {@code os-release} file. */
    static String of(List<String> osRelease) {
        String names = osRelease.stream()
                .filter(line -> line.startsWith("ID=") || line.startsWith("ID_LIKE="))
                .reduce("", (all, line) -> all + " " + line);
        return OF_DISTRIBUTION.entrySet().stream()
                .filter(entry -> names.contains(entry.getKey()))
                .map(Map.Entry::getValue)
                .findFirst()
                .orElse(DEFAULT);
    }
}
