package io.github.roost.cli.docs;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * The {@code java} blocks of a Markdown file, compiled. A block that declares a type is a compilation unit; any other is
 * the body of a method. A block that stands word for word in a source of the repository is compiled with that. What the
 * bodies take for granted stands in a comment at the end of the file, which readers do not see: imports, and the variables
 * that they use, as fields.
 *
 * <pre>{@code
 * <!-- given
 * import java.util.List;
 * List<String> names;
 * -->
 * }</pre>
 */
final class JavaBlocks {
    private static final String GIVEN_OPENS = "<!-- given";
    private static final String GIVEN_CLOSES = "-->";
    private static final String BLOCK_OPENS = "```java";
    private static final String BLOCK_CLOSES = "```";
    private static final Pattern TYPE = Pattern.compile(
            "^(?:public |final |abstract |sealed )*(?:class|interface|record|enum) (\\w+)", Pattern.MULTILINE);
    private static final JavaCompiler COMPILER = ToolProvider.getSystemJavaCompiler();

    private JavaBlocks() {}

    /**
     * What the compiler says about a text's blocks, each with file and line.
     *
     * @param sources Java that is compiled elsewhere
     */
    static List<String> problems(String file, String markdown, String sources) {
        List<String> problems = new ArrayList<>();
        for (Block block : blocks(markdown.lines().toList())) {
            String code = String.join("\n", block.code());
            if (sources.contains(code.indent(0)) || sources.contains(code.indent(4))) {
                continue;
            }
            compile(unit(block), file, block.firstLine(), problems);
        }
        return problems;
    }

    /** A block's lines, what the bodies of its file take for granted, and the number of its first line, from 1. */
    private record Block(List<String> given, List<String> code, int firstLine) {}

    private static List<Block> blocks(List<String> lines) {
        List<Block> blocks = new ArrayList<>();
        List<String> given = new ArrayList<>();
        for (int at = 0; at < lines.size(); at++) {
            String line = lines.get(at).strip();
            if (line.equals(GIVEN_OPENS)) {
                int end = find(GIVEN_CLOSES, lines, at + 1);
                given.addAll(lines.subList(at + 1, end));
                at = end;
            } else if (line.equals(BLOCK_OPENS)) {
                int end = find(BLOCK_CLOSES, lines, at + 1);
                blocks.add(new Block(given, lines.subList(at + 1, end), at + 2));
                at = end;
            }
        }
        return blocks;
    }

    private static int find(String line, List<String> lines, int from) {
        int at = from;
        while (at < lines.size() && !lines.get(at).strip().equals(line)) {
            at++;
        }
        return at;
    }

    /** Source and the line in it, from 1, that is the block's first. */
    private record Unit(String name, String source, int blockLine) {}

    private static Unit unit(Block block) {
        String code = String.join("\n", block.code());
        Matcher type = TYPE.matcher(code);
        if (type.find()) {
            return new Unit(type.group(1), code, 1);
        }
        StringBuilder imports = new StringBuilder();
        StringBuilder given = new StringBuilder();
        StringBuilder shown = new StringBuilder();
        for (String line : block.given()) {
            (isImport(line) ? imports : given).append(line).append('\n');
        }
        for (String line : block.code()) {
            // An import moves to the top and leaves its line empty, so that lines keep their numbers.
            imports.append(isImport(line) ? line + "\n" : "");
            shown.append(isImport(line) ? "" : line).append('\n');
        }
        String before =
                imports + "@SuppressWarnings(\"all\")\nclass Block {\n" + given + "void run() throws Exception {\n";
        return new Unit(
                "Block", before + shown + "}\n}\n", 1 + (int) before.lines().count());
    }

    private static boolean isImport(String line) {
        return line.startsWith("import ");
    }

    private static void compile(Unit unit, String file, int firstLine, List<String> problems) {
        DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
        try (StandardJavaFileManager files = COMPILER.getStandardFileManager(found, Locale.ROOT, null)) {
            Path classes = Files.createTempDirectory("blocks");
            try {
                List<String> options = List.of(
                        "-proc:none", "-classpath", System.getProperty("java.class.path"), "-d", classes.toString());
                COMPILER.getTask(null, files, found, options, null, List.of(new Source(unit)))
                        .call();
            } finally {
                delete(classes);
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        for (Diagnostic<? extends JavaFileObject> diagnostic : found.getDiagnostics()) {
            if (diagnostic.getKind() == Diagnostic.Kind.ERROR) {
                long line = firstLine + diagnostic.getLineNumber() - unit.blockLine();
                problems.add(file + ":" + line + ": " + diagnostic.getMessage(Locale.ROOT));
            }
        }
    }

    private static void delete(Path folder) throws IOException {
        try (var files = Files.walk(folder)) {
            for (Path path : files.sorted(java.util.Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }

    private static final class Source extends SimpleJavaFileObject {
        private final String code;

        Source(Unit unit) {
            super(URI.create("string:///" + unit.name() + Kind.SOURCE.extension), Kind.SOURCE);
            this.code = unit.source();
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return code;
        }
    }
}
