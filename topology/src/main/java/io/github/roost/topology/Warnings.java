package io.github.roost.topology;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Warns once in the life of the JVM for each cause, however many threads meet it. Thread-safe. */
final class Warnings {
    private static final Logger LOG = LoggerFactory.getLogger("io.github.roost.topology");
    private static final Set<String> SEEN = ConcurrentHashMap.newKeySet();

    private Warnings() {}

    static void once(String cause, String message) {
        if (SEEN.add(cause)) {
            LOG.warn(message);
        }
    }
}
