package io.github.roost.cli.site;

import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.module.FindException;
import java.lang.module.ModuleFinder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Builds the site of a checkout: its guides, and one Javadoc of all modules with exports. */
public final class Site {
    private static final Pattern REQUIRES = Pattern.compile("\\brequires (?:static |transitive )*([\\w.]+);");
    private static final Pattern MODULE = Pattern.compile("^(?:open )?module ([\\w.]+)", Pattern.MULTILINE);

    private final Path root;
    private final Path site;
    private final PrintStream messages;

    /**
     * @param root of the checkout
     * @param site output folder; existing files of the site are replaced, others stay
     * @param messages for messages
     */
    public Site(Path root, Path site, PrintStream messages) {
        this.root = root;
        this.site = site;
        this.messages = messages;
    }

    /**
     * Writes the guides, and the Javadoc if requested.
     *
     * @throws IOException if a file cannot be written, or the Javadoc tool fails
     */
    public void build(boolean withApi) throws IOException {
        Files.createDirectories(site);
        int pages = Guides.of(root).writeTo(site, withApi);
        if (withApi) {
            api();
        }
        messages.println(pages + " guides" + (withApi ? " and the Javadoc" : "") + " in " + site.resolve("index.html"));
    }

    private void api() throws IOException {
        ToolProvider javadoc = ToolProvider.findFirst("javadoc")
                .orElseThrow(() -> new IOException("this JVM has no javadoc tool: run a JDK"));
        Map<String, Path> modules = modules();
        List<String> arguments = new ArrayList<>(List.of(
                "-quiet",
                "-Xdoclint:none",
                "--release=25",
                "-encoding",
                "UTF-8",
                "-notimestamp",
                "--no-fonts",
                "-windowtitle",
                "Roost",
                "-d",
                site.resolve("api").toString(),
                "--module",
                String.join(",", modules.keySet()),
                "--module-path",
                libraries(modules.values())));
        modules.forEach((name, sources) -> {
            arguments.add("--module-source-path");
            arguments.add(name + "=" + sources);
        });
        if (javadoc.run(messages, messages, arguments.toArray(String[]::new)) != 0) {
            throw new IOException("javadoc failed: see its output above");
        }
    }

    /** The sources of each library, by the name of its module. */
    private Map<String, Path> modules() throws IOException {
        Map<String, Path> modules = new LinkedHashMap<>();
        try (Stream<Path> folders = Files.list(root)) {
            for (Path folder : folders.sorted().toList()) {
                Path sources = folder.resolve("src/main/java");
                Path descriptor = sources.resolve("module-info.java");
                if (Files.exists(descriptor)) {
                    Matcher module = MODULE.matcher(Files.readString(descriptor));
                    if (module.find()) {
                        modules.put(module.group(1), sources);
                    }
                }
            }
        }
        return modules;
    }

    /** The jars of this process's class path that the modules require. All jars together would have packages in several modules. */
    private static String libraries(Collection<Path> sources) throws IOException {
        Set<String> required = new HashSet<>();
        for (Path source : sources) {
            REQUIRES.matcher(Files.readString(source.resolve("module-info.java")))
                    .results()
                    .forEach(require -> required.add(require.group(1)));
        }
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .map(Path::of)
                .filter(file -> file.toString().endsWith(".jar") && isRequired(file, required))
                .map(Path::toString)
                .collect(Collectors.joining(File.pathSeparator));
    }

    private static boolean isRequired(Path jar, Set<String> required) {
        try {
            return ModuleFinder.of(jar).findAll().stream()
                    .anyMatch(module -> required.contains(module.descriptor().name())
                            && !module.descriptor().name().startsWith("io.github.roost"));
        } catch (FindException noModule) {
            return false;
        }
    }
}
