package io.github.roost.bench.io;

import java.nio.file.OpenOption;
import java.util.stream.Stream;

/** The JDK's option for direct I/O. Stateless. */
public final class DirectOption {
    private DirectOption() {}

    /** {@code ExtendedOpenOption.DIRECT}, by reflection: the compiler warns of each use of its type. */
    public static OpenOption get() {
        try {
            return Stream.of(
                            Class.forName("com.sun.nio.file.ExtendedOpenOption").getEnumConstants())
                    .filter(option -> option.toString().equals("DIRECT"))
                    .map(OpenOption.class::cast)
                    .findFirst()
                    .orElseThrow();
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException("this JDK has no direct I/O", e);
        }
    }
}
