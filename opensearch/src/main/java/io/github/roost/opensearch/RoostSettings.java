package io.github.roost.opensearch;

import io.github.roost.topology.DomainLevel;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.opensearch.common.settings.Setting;
import org.opensearch.common.settings.Setting.Property;
import org.opensearch.common.unit.TimeValue;
import org.opensearch.core.common.unit.ByteSizeValue;

/** The settings of nodes and indexes. Stateless. */
final class RoostSettings {
    /** Whether an index may have fields of type roost_vector. Final, because the codec of its segments depends on it. */
    static final Setting<Boolean> INDEX_ENABLED =
            Setting.boolSetting("index.roost.enabled", false, Property.IndexScope, Property.Final);

    /**
     * Which implementation searches the graphs of Lucene's own formats. Roost needs a reader wrapper, which is set when the index is
     * opened, and an index can have only one. So the default is off, and the setting can only be changed while the index is closed.
     */
    static final Setting<StockGraphs> STOCK_GRAPHS =
            ofConstants("index.roost.stock_graphs", StockGraphs.LUCENE, StockGraphs.class, Property.IndexScope);

    /** The thread pool that runs the slices of concurrent segment search. */
    static final Setting<Slices> SLICES =
            ofConstants("roost.slices", Slices.ROOST, Slices.class, Property.Dynamic, Property.NodeScope);

    /** The threads that build graphs of segments in Roost's format. */
    static final Setting<Builds> BUILDS =
            ofConstants("roost.builds", Builds.ROOST, Builds.class, Property.Dynamic, Property.NodeScope);

    /** Whether vector searches of a segment run on its home domain. */
    static final Setting<Homes> HOMES =
            ofConstants("roost.homes", Homes.AUTO, Homes.class, Property.Dynamic, Property.NodeScope);

    /** The default effort of searches; raised to a search's k if k is larger. */
    static final Setting<Integer> EFFORT =
            Setting.intSetting("roost.effort", 100, 1, Wanted.MAX_EFFORT, Property.NodeScope, Property.Dynamic);

    /** The default effort of searches in an index; 0 for that of the cluster. */
    static final Setting<Integer> INDEX_EFFORT =
            Setting.intSetting("index.roost.effort", 0, 0, Wanted.MAX_EFFORT, Property.IndexScope, Property.Dynamic);

    /** The level of the machine whose objects are the cache domains; chosen automatically if empty. */
    static final Setting<String> DOMAINS =
            new Setting<>("roost.domains", "", RoostSettings::requireLevel, Property.NodeScope);

    /** Max memory of all segment searches together. */
    static final Setting<ByteSizeValue> BREAKER_LIMIT =
            Setting.memorySizeSetting("roost.breaker.limit", "10%", Property.NodeScope, Property.Dynamic);

    /** Interval at which a node checks its folder for new versions of tables. */
    static final Setting<TimeValue> TABLES_INTERVAL = Setting.timeSetting(
            "roost.tables.interval", TimeValue.timeValueSeconds(1), TimeValue.timeValueMillis(100), Property.NodeScope);

    /**
     * Patterns of the names of the indexes whose hits may have columns of a table. None by default: who may create an index could read
     * every table otherwise.
     */
    static final Setting.AffixSetting<List<String>> TABLE_READERS = Setting.affixKeySetting(
            "roost.tables.",
            "indexes",
            key -> Setting.listSetting(key, List.of(), Function.identity(), Property.NodeScope, Property.Dynamic));

    static final Setting<Boolean> PINNING = Setting.boolSetting("roost.pinning", true, Property.NodeScope);

    /** The thread pool for slices. */
    enum Slices {
        /** Roost's workers. */
        ROOST,
        /** OpenSearch's index_searcher pool. */
        INDEX_SEARCHER
    }

    /** The threads that build graphs. */
    enum Builds {
        /** Roost's workers, as maintenance. */
        ROOST,
        /** The threads that flush and merge. */
        LUCENE
    }

    /** The implementation that searches graphs in Lucene's own formats. */
    enum StockGraphs {
        /** Roost, in off-heap copies. */
        ROOST,
        /** Lucene, in the segment. */
        LUCENE
    }

    /** When vector searches of a segment run on its home domain. */
    enum Homes {
        /** If the node has several last-level caches. */
        AUTO,
        ALWAYS,
        NEVER
    }

    private RoostSettings() {}

    static List<Setting<?>> all() {
        return List.of(
                INDEX_ENABLED,
                STOCK_GRAPHS,
                SLICES,
                BUILDS,
                HOMES,
                EFFORT,
                INDEX_EFFORT,
                DOMAINS,
                PINNING,
                BREAKER_LIMIT,
                TABLES_INTERVAL,
                TABLE_READERS);
    }

    private static <E extends Enum<E>> Setting<E> ofConstants(
            String key, E byDefault, Class<E> constants, Property... properties) {
        return new Setting<>(key, name(byDefault), value -> constant(key, value, constants), properties);
    }

    static String name(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }

    /**
     * The constant with a lower-case name.
     *
     * @param what the setting's name in the message
     * @throws IllegalArgumentException if there is no such constant
     */
    static <E extends Enum<E>> E constant(String what, String value, Class<E> constants) {
        for (E constant : constants.getEnumConstants()) {
            if (name(constant).equals(value)) {
                return constant;
            }
        }
        throw new IllegalArgumentException(what + " must be one of " + names(constants) + ", got " + value);
    }

    private static String names(Class<? extends Enum<?>> constants) {
        return Arrays.stream(constants.getEnumConstants())
                .map(RoostSettings::name)
                .collect(Collectors.joining(", "));
    }

    private static String requireLevel(String value) {
        return value.isEmpty() ? value : name(constant("roost.domains", value, DomainLevel.class));
    }
}
