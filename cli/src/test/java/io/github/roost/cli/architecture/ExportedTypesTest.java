package io.github.roost.cli.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleDescriptor.Exports;
import java.lang.reflect.AccessFlag;
import java.net.JarURLConnection;
import java.net.URI;
import java.net.URL;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;

/** How many types Roost's modules export: the public top-level types of the packages that are exported to everybody. */
class ExportedTypesTest {
    private static final String ROOST = "io.github.roost.";
    private static final String CORE = "io.github.roost.core";
    /** The packages of core that a user meets; the others are for indexes. */
    private static final Set<String> FOR_USERS = Set.of(CORE, CORE + ".mapping", CORE + ".metrics", CORE + ".policy");

    private static final int MOST_FOR_USERS_OF_CORE = 23;
    private static final int MOST = 110;

    /** The exported types of each module, by package. */
    private final SortedMap<String, SortedMap<String, Set<String>>> modules = modules();

    @Test
    void allModulesTogetherExportNoMoreThanAgreed(TestReporter reporter) {
        SortedMap<String, Long> counts = new TreeMap<>();
        modules.forEach((module, packages) -> counts.put(module, count(packages.values())));
        counts.forEach((module, count) -> reporter.publishEntry(module, count.toString()));

        assertThat(counts).containsKeys(CORE, ROOST + "topology", ROOST + "index.hnsw");
        assertThat(counts.values().stream().mapToLong(Long::longValue).sum())
                .as("exported types, by module %s", counts)
                .isLessThanOrEqualTo(MOST);
    }

    @Test
    void aUserOfCoreMeetsFewTypes() {
        SortedMap<String, Set<String>> packages =
                new TreeMap<>(modules.getOrDefault(CORE, Collections.emptySortedMap()));
        packages.keySet().retainAll(FOR_USERS);

        assertThat(packages.keySet()).isEqualTo(FOR_USERS);
        assertThat(count(packages.values())).as("types %s", packages).isLessThanOrEqualTo(MOST_FOR_USERS_OF_CORE);
    }

    private static long count(Collection<Set<String>> packages) {
        return packages.stream().mapToLong(Set::size).sum();
    }

    private static SortedMap<String, SortedMap<String, Set<String>>> modules() {
        try {
            SortedMap<String, SortedMap<String, Set<String>>> modules = new TreeMap<>();
            ClassLoader loader = ExportedTypesTest.class.getClassLoader();
            for (URL url : Collections.list(loader.getResources("module-info.class"))) {
                ModuleDescriptor module;
                try (InputStream in = url.openStream()) {
                    module = ModuleDescriptor.read(in);
                }
                if (module.name().startsWith(ROOST)) {
                    modules.put(module.name(), exportedTypes(module, url));
                }
            }
            return modules;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static SortedMap<String, Set<String>> exportedTypes(ModuleDescriptor module, URL url) throws IOException {
        if (url.openConnection() instanceof JarURLConnection jar) {
            URI file = URI.create("jar:" + jar.getJarFileURL());
            try (FileSystem files = FileSystems.newFileSystem(file, Map.of())) {
                return exportedTypes(module, files.getPath("/"));
            }
        }
        return exportedTypes(module, Path.of(URI.create(url.toString())).resolveSibling(""));
    }

    private static SortedMap<String, Set<String>> exportedTypes(ModuleDescriptor module, Path classes)
            throws IOException {
        SortedMap<String, Set<String>> types = new TreeMap<>();
        for (Exports exported : module.exports()) {
            if (!exported.isQualified()) {
                types.put(
                        exported.source(),
                        publicTypes(classes.resolve(exported.source().replace('.', '/'))));
            }
        }
        return types;
    }

    private static Set<String> publicTypes(Path folder) throws IOException {
        Set<String> types = new TreeSet<>();
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                String name = file.getFileName().toString();
                if (name.endsWith(".class")
                        && !name.contains("$")
                        && ClassFile.of()
                                .parse(Files.readAllBytes(file))
                                .flags()
                                .has(AccessFlag.PUBLIC)) {
                    types.add(name.substring(0, name.length() - ".class".length()));
                }
            }
        }
        return types;
    }
}
