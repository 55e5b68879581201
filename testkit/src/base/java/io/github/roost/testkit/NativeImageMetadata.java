package io.github.roost.testkit;

import static java.util.stream.Collectors.toCollection;

import java.io.IOException;
import java.lang.foreign.AddressLayout;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/** What a module tells GraalVM, which compiles into an image only calls of C that are listed. */
final class NativeImageMetadata {
    private static final Pattern DOWNCALL =
            Pattern.compile("\"returnType\": \"(?<result>[^\"]*)\", \"parameterTypes\": \\[(?<parameters>[^]]*)]");

    private final String json;

    private NativeImageMetadata(String json) {
        this.json = json;
    }

    /** That of the module whose tests run. */
    static NativeImageMetadata ofThisModule() throws IOException {
        Path module = Path.of("").toAbsolutePath().getFileName();
        Path resources = Path.of("src/main/resources/META-INF/native-image/io.github.roost");
        return new NativeImageMetadata(
                Files.readString(resources.resolve("roost-" + module).resolve("reachability-metadata.json")));
    }

    /** The types of the listed calls, such as {@code jint(jlong, void*)}. */
    Set<String> downcalls() {
        return DOWNCALL.matcher(json)
                .results()
                .map(call -> call.group("result") + "(" + call.group("parameters").replace("\"", "") + ")")
                .collect(toCollection(TreeSet::new));
    }

    boolean hasResource(String glob) {
        return json.contains("{ \"glob\": \"" + glob + "\" }");
    }

    /** The types of functions, in the same form. */
    static Set<String> typesOf(Collection<FunctionDescriptor> functions) {
        return functions.stream()
                .map(function -> function.returnLayout()
                                .map(NativeImageMetadata::type)
                                .orElse("void") + "("
                        + String.join(
                                ", ",
                                function.argumentLayouts().stream()
                                        .map(NativeImageMetadata::type)
                                        .toList())
                        + ")")
                .collect(toCollection(TreeSet::new));
    }

    private static String type(MemoryLayout layout) {
        return layout instanceof AddressLayout ? "void*" : "j" + ((ValueLayout) layout).carrier();
    }
}
