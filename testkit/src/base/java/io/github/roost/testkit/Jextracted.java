package io.github.roost.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;

/** The bindings that jextract generates from a header, compiled. What a header lacks is a {@link ReflectiveOperationException}. */
final class Jextracted implements AutoCloseable {
    private static final String PACKAGE = "generated";
    private static final Pattern OFFSET = Pattern.compile("offsetof\\((?:struct|union) (\\w+), (\\w+)((?:\\.\\w+)*)\\)");
    private static final Pattern SIZE = Pattern.compile("sizeof\\((?:struct|union) (\\w+)\\)");

    private static final Pattern FIELD_SIZE =
            Pattern.compile("sizeof\\(\\(\\((?:struct|union) (\\w+) \\*\\)0\\)->(\\w+)\\)");

    private final URLClassLoader loader;
    private final Class<?> header;

    private Jextracted(URLClassLoader loader) throws ClassNotFoundException {
        this.loader = loader;
        this.header = loader.loadClass(PACKAGE + ".Header");
    }

    /** Runs jextract. */
    static Jextracted of(Path directory, Path header, List<String> options) throws Exception {
        Path sources = directory.resolve("jextract");
        List<String> command = new ArrayList<>(List.of("jextract", "--output", sources.toString()));
        command.addAll(List.of("--target-package", PACKAGE, "--header-class-name", "Header"));
        command.addAll(options);
        command.add(header.toString());
        HeadersContract.run(command);
        Path classes = directory.resolve("classes");
        compile(sources, classes);
        return new Jextracted(new URLClassLoader(new URL[] {classes.toUri().toURL()}));
    }

    private static void compile(Path sources, Path classes) throws IOException {
        List<String> arguments = new ArrayList<>(List.of("-nowarn", "-proc:none", "-d", classes.toString()));
        try (Stream<Path> files = Files.walk(sources)) {
            files.map(Path::toString).filter(file -> file.endsWith(".java")).forEach(arguments::add);
        }
        StringWriter messages = new StringWriter();
        PrintWriter output = new PrintWriter(messages);
        int result =
                ToolProvider.findFirst("javac").orElseThrow().run(output, output, arguments.toArray(String[]::new));
        assertThat(result).as(messages.toString()).isZero();
    }

    /** What the header declares: of a variadic function the arguments before the dots. */
    FunctionDescriptor descriptor(String function) throws ReflectiveOperationException {
        if (!isVariadic(function)) {
            return (FunctionDescriptor) call(header, function + "$descriptor");
        }
        Field declared = nested(function).findFirst().orElseThrow().getDeclaredField("BASE_DESC");
        declared.setAccessible(true);
        return (FunctionDescriptor) declared.get(null);
    }

    /** Of a variadic function there is a class to make one of it for some arguments. */
    boolean isVariadic(String function) {
        return nested(function).findFirst().isPresent();
    }

    private Stream<Class<?>> nested(String name) {
        return Stream.of(header.getClasses()).filter(nested -> nested.getSimpleName().equals(name));
    }

    long value(String expression) throws ReflectiveOperationException {
        long value = 0;
        for (String term : expression.split(" \\| ", -1)) {
            value |= term(term);
        }
        return value;
    }

    private long term(String term) throws ReflectiveOperationException {
        Matcher offset = OFFSET.matcher(term);
        if (offset.matches()) {
            return offset(loader.loadClass(PACKAGE + "." + offset.group(1)), offset.group(2), offset.group(3));
        }
        Matcher size = SIZE.matcher(term);
        if (size.matches()) {
            return (long) call(loader.loadClass(PACKAGE + "." + size.group(1)), "sizeof");
        }
        Matcher fieldSize = FIELD_SIZE.matcher(term);
        if (fieldSize.matches()) {
            Class<?> struct = loader.loadClass(PACKAGE + "." + fieldSize.group(1));
            return ((MemoryLayout) call(struct, fieldSize.group(2) + "$layout")).byteSize();
        }
        return ((Number) call(header, term)).longValue();
    }

    /** @param within fields of the field, each after a dot */
    private static long offset(Class<?> struct, String field, String within) throws ReflectiveOperationException {
        long offset = (long) call(struct, field + "$offset");
        if (within.isEmpty()) {
            return offset;
        }
        PathElement[] path =
                Stream.of(within.substring(1).split("\\.")).map(PathElement::groupElement).toArray(PathElement[]::new);
        return offset + ((MemoryLayout) call(struct, field + "$layout")).byteOffset(path);
    }

    private static Object call(Class<?> owner, String name) throws ReflectiveOperationException {
        Method method = owner.getMethod(name);
        // Of headers with much in them the class is made in parts, which are not public.
        method.setAccessible(true);
        return method.invoke(null);
    }

    @Override
    public void close() throws IOException {
        loader.close();
    }
}
