package io.github.roost.bench;

import io.github.roost.topology.Topology;
import java.io.IOException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The origin of figures.
 *
 * @param commit of the checkout, with a plus sign if files differ from it; {@code unknown} without git
 * @param cpu its name
 * @param cpus number that this process may use
 * @param caches description of the cache domains
 * @param memoryMib of the machine
 * @param system operating system and kernel
 * @param java the JVM
 * @param versions of libraries and of third-party peers
 */
public record Provenance(
        String commit,
        String cpu,
        int cpus,
        String caches,
        long memoryMib,
        String system,
        String java,
        Map<String, String> versions) {
    private static final Pattern VERSION = Pattern.compile("-(\\d[^/]*)\\.jar$");
    private static final String UNKNOWN = "unknown";

    public Provenance {
        versions = new TreeMap<>(versions);
    }

    /**
     * The provenance of figures measured on this machine.
     *
     * @param checkout the folder of the sources
     * @param topology of the machine
     * @param versions of libraries and peers
     */
    public static Provenance here(Path checkout, Topology topology, Map<String, String> versions) {
        return new Provenance(
                commit(checkout),
                field(Path.of("/proc/cpuinfo"), "model name"),
                Runtime.getRuntime().availableProcessors(),
                String.format(
                        Locale.ROOT,
                        "%d cache %s of %.0f MiB %s",
                        topology.domains().size(),
                        topology.domains().size() == 1 ? "domain" : "domains",
                        topology.domains().getFirst().cacheBytes() / (double) (1 << 20),
                        topology.level()),
                mibOfMemory(),
                "%s, %s %s (%s)"
                        .formatted(
                                field(Path.of("/etc/os-release"), "PRETTY_NAME").replace("\"", ""),
                                System.getProperty("os.name"),
                                System.getProperty("os.version"),
                                System.getProperty("os.arch")),
                "%s %s".formatted(System.getProperty("java.vm.name"), System.getProperty("java.vm.version")),
                versions);
    }

    /** The versions of packages such as {@code hnswlib==0.8.0}. */
    public static Map<String, String> pinned(List<String> packages) {
        return packages.stream()
                .map(pinned -> pinned.split("==", 2))
                .collect(Collectors.toMap(
                        pinned -> pinned[0], pinned -> pinned[1], (one, other) -> one + " and " + other));
    }

    /** The version of the jar that contains a class; {@code unknown} if there is no jar with a version. */
    public static String versionOf(Class<?> type) {
        CodeSource source = type.getProtectionDomain().getCodeSource();
        URL place = source == null ? null : source.getLocation();
        Matcher version = VERSION.matcher(place == null ? "" : place.getPath());
        return version.find() ? version.group(1) : UNKNOWN;
    }

    /** The first line that a program prints; {@code unknown} if it cannot be run or fails. */
    public static String firstLineOf(Path folder, String... command) {
        try {
            Process process = new ProcessBuilder(command)
                    .directory(folder.toAbsolutePath().toFile())
                    .redirectErrorStream(true)
                    .start();
            String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            boolean succeeded = process.waitFor(10, TimeUnit.SECONDS) && process.exitValue() == 0;
            return succeeded ? printed.lines().findFirst().orElse("") : UNKNOWN;
        } catch (IOException notThere) {
            return UNKNOWN;
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return UNKNOWN;
        }
    }

    private static String commit(Path checkout) {
        String hash = firstLineOf(checkout, "git", "rev-parse", "--short=12", "HEAD");
        boolean changed = !firstLineOf(checkout, "git", "status", "--porcelain", "--untracked-files=no")
                .isEmpty();
        return hash.equals(UNKNOWN) || !changed ? hash : hash + "+";
    }

    private static long mibOfMemory() {
        String kib = field(Path.of("/proc/meminfo"), "MemTotal").replaceAll("\\D", "");
        return kib.isEmpty() ? 0 : Long.parseLong(kib) >> 10;
    }

    /** The value of a line such as {@code name: value} or {@code name=value}. */
    private static String field(Path file, String name) {
        try (Stream<String> lines = Files.lines(file)) {
            return lines.filter(line -> line.startsWith(name))
                    .map(line -> line.replaceFirst("^[^:=]*[:=]\\s*", "").strip())
                    .findFirst()
                    .orElse(UNKNOWN);
        } catch (IOException notThere) {
            return UNKNOWN;
        }
    }

    /** All fields except the commit and the versions, as one sentence. */
    public String inWords() {
        return String.format(
                Locale.ROOT, "%s, %d CPUs, %s, %,d MiB of memory; %s; %s", cpu, cpus, caches, memoryMib, system, java);
    }
}
