package io.github.roost.cli.architecture;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.GeneralCodingRules.ACCESS_STANDARD_STREAMS;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The arrows between Roost's modules and packages, on the compiled classes. */
@AnalyzeClasses(packages = "io.github.roost", importOptions = DoNotIncludeTests.class)
class BoundariesTest {
    private static final String ROOT = "io.github.roost.";

    /** Every room, by its packages, with the rooms that it may use. */
    private static final Map<String, Set<String>> ROOMS = rooms();

    private static final String[] TOOLS = {"testkit", "simulator", "bench", "server", "cli"};
    /** Not the plugin, whose log and whose exported types are OpenSearch's. */
    private static final String[] LIBRARIES = ROOMS.keySet().stream()
            .filter(room -> !Set.of(TOOLS).contains(room) && !room.equals("opensearch"))
            .map(BoundariesTest::in)
            .toArray(String[]::new);

    private static final String TOPOLOGY = in("topology");
    private static final String CORE = in("core");
    private static final String IO = in("io");
    private static final String NEIGHBORHASH = in("neighborhash");
    private static final String HNSW = in("index.hnsw");
    private static final String IVF = in("index.ivf");

    private static final String HWLOC = "io.github.roost.topology.hwloc..";
    private static final String POOL = "io.github.roost.core.pool..";
    private static final String TASK = "io.github.roost.core.task..";
    private static final String PLACEMENT = "io.github.roost.core.placement..";
    /** Decisions that only core and the simulators, which decide alike, ask for. */
    private static final String[] DECISIONS = {
        "io.github.roost.core.dispatch..", "io.github.roost.core.monitor..", "io.github.roost.core.remap.."
    };

    /** What requests are made of: types of core's root package, below the pool, unlike the orchestrator beside them. */
    private static final Set<String> REQUEST_TYPES = Set.of(
            "MappingId",
            "Merger",
            "OutsideContext",
            "Part",
            "Priority",
            "Registration",
            "SearchContext",
            "SearchFunction",
            "SubmitOptions");

    /** What index-remote's root package has below the internals: providers of memory. */
    private static final Set<String> PROVIDER_TYPES = Set.of("MappedMemory", "RemoteMemory");

    private static final String SPI = "io.github.roost.core.spi";
    private static final String RINGS = "io.github.roost.io.linux..";
    private static final String LIBRARIES_OF_KERNELS = "io.github.roost.vector.kernel..";
    private static final String LOOKUP = "io.github.roost.neighborhash.kernel..";
    private static final String GRAPH_SEARCH = "io.github.roost.index.hnsw.search..";
    private static final String KERNEL = "io.github.roost.index.ivf.kernel..";
    private static final String UCX = "io.github.roost.index.remote.ucx..";
    private static final String DISK_SEARCH = "io.github.roost.index.disk.search..";
    private static final String DISK_UPDATE = "io.github.roost.index.disk.update..";
    private static final String DISK_FORMAT = "io.github.roost.index.disk.format..";
    private static final String DISK_BUILD = "io.github.roost.index.disk.build..";
    private static final String JVECTOR_BUILD = "io.github.roost.index.jvector.build..";
    private static final String[] INSIDE_REMOTE = {
        "io.github.roost.index.remote.build..",
        "io.github.roost.index.remote.cache..",
        "io.github.roost.index.remote.format..",
        "io.github.roost.index.remote.pool..",
        "io.github.roost.index.remote.search..",
        "io.github.roost.index.remote.update.."
    };
    private static final String[] INTERNALS = Stream.concat(
                    Stream.of(
                            HWLOC,
                            POOL,
                            TASK,
                            PLACEMENT,
                            RINGS,
                            LOOKUP,
                            GRAPH_SEARCH,
                            KERNEL,
                            DISK_SEARCH,
                            DISK_UPDATE,
                            DISK_FORMAT,
                            DISK_BUILD,
                            JVECTOR_BUILD),
                    Stream.of(INSIDE_REMOTE))
            .toArray(String[]::new);
    private static final String[] NATIVE = {HWLOC, RINGS, LIBRARIES_OF_KERNELS, LOOKUP, GRAPH_SEARCH, KERNEL, UCX};

    /** Exported to some of Roost's own modules alone. */
    private static final String[] QUALIFIED = {
        in("topology.system"),
        in("vector.file"),
        in("vector.kernel"),
        in("documents.file"),
        in("vector.math"),
        in("neighborhash.spi"),
        in("index.hnsw.graph")
    };

    private static final DescribedPredicate<JavaClass> EXPORTED = resideInAnyPackage(LIBRARIES)
            .and(DescribedPredicate.not(resideInAnyPackage(QUALIFIED)))
            .and(DescribedPredicate.not(resideInAnyPackage(INTERNALS)))
            .and(DescribedPredicate.not(resideInAnyPackage(DECISIONS)))
            .and(DescribedPredicate.not(resideInAnyPackage(INSIDE_REMOTE)))
            .and(DescribedPredicate.describe("public", BoundariesTest::isPublic));

    @ArchTest
    static void roomsUseOnlyRoomsBelow(JavaClasses classes) {
        ROOMS.forEach((room, below) -> noClasses()
                .that(DescribedPredicate.describe("are in " + room, type -> room.equals(roomOf(type))))
                .should()
                .dependOnClassesThat(DescribedPredicate.describe("are in a room other than " + below, type -> {
                    String other = roomOf(type);
                    return other != null && !other.equals(room) && !below.contains(other);
                }))
                .check(classes));
    }

    private static Map<String, Set<String>> rooms() {
        Map<String, Set<String>> rooms = new LinkedHashMap<>();
        rooms.put("topology", Set.of());
        rooms.put("affinity", Set.of("topology"));
        rooms.put("core", Set.of("topology"));
        rooms.put("vector", Set.of("topology", "core"));
        rooms.put("io", Set.of("topology", "core"));
        rooms.put("neighborhash", Set.of("topology", "vector"));
        rooms.put("rows", Set.of("topology", "core", "vector", "io", "neighborhash"));
        rooms.put("rows.service", Set.of("core", "io", "vector", "neighborhash", "rows"));
        rooms.put("rows.service.etcd", Set.of("vector", "rows.service"));
        rooms.put("index.hnsw", Set.of("topology", "core", "vector", "neighborhash"));
        rooms.put("index.jvector", Set.of("topology", "core", "vector", "index.hnsw"));
        rooms.put("index.ivf", Set.of("topology", "core", "vector", "neighborhash"));
        rooms.put("index.disk", Set.of("topology", "core", "vector", "io", "neighborhash"));
        rooms.put("index.remote", Set.of("topology", "core", "vector", "neighborhash", "index.hnsw"));
        rooms.put("documents", Set.of("topology", "core", "vector", "index.hnsw"));
        rooms.put("langchain4j", Set.of("core", "vector", "documents"));
        rooms.put("springai", Set.of("core", "vector", "documents"));
        rooms.put("lucene", Set.of("topology", "core", "vector", "index.hnsw"));
        rooms.put("opensearch", Set.of("topology", "core", "vector", "index.hnsw", "rows", "lucene"));
        rooms.put("testkit", Set.of("topology", "core", "vector", "io"));
        Set<String> libraries = Set.copyOf(rooms.keySet());
        for (String tool : List.of("simulator", "bench", "server", "cli")) {
            Set<String> below = new HashSet<>(libraries);
            below.addAll(rooms.keySet());
            below.remove("opensearch");
            if (tool.equals("server")) {
                below.remove("bench");
            }
            rooms.put(tool, below);
        }
        return rooms;
    }

    private static String in(String room) {
        return ROOT + room + "..";
    }

    /** The room of a class: the longest name that its package begins with. Null for a class of another project. */
    private static @Nullable String roomOf(JavaClass type) {
        return ROOMS.keySet().stream()
                .filter(room -> type.getPackageName().equals(ROOT + room)
                        || type.getPackageName().startsWith(ROOT + room + "."))
                .max(Comparator.comparingInt(String::length))
                .orElse(null);
    }

    @ArchTest
    static final ArchRule hwlocIsBehindTopology = onlyUsedBy(HWLOC, TOPOLOGY);

    @ArchTest
    static final ArchRule thePoolIsBehindCore = onlyUsedBy(POOL, CORE);

    @ArchTest
    static final ArchRule tasksAreBehindCore = onlyUsedBy(TASK, CORE);

    @ArchTest
    static final ArchRule placementIsBehindCore = onlyUsedBy(PLACEMENT, CORE);

    @ArchTest
    static final ArchRule decisionsAreBehindCoreAndTheSimulator = noClasses()
            .that()
            .resideOutsideOfPackages(CORE, in("simulator"), in("bench"))
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(DECISIONS);

    @ArchTest
    static final ArchRule ringsAreBehindIo = onlyUsedBy(RINGS, IO);

    @ArchTest
    static final ArchRule theLookupIsBehindNeighborhash = onlyUsedBy(LOOKUP, NEIGHBORHASH);

    @ArchTest
    static final ArchRule theSearchInCIsBehindIndexHnsw = onlyUsedBy(GRAPH_SEARCH, HNSW);

    @ArchTest
    static final ArchRule theKernelIsBehindIndexIvf = onlyUsedBy(KERNEL, IVF);

    @ArchTest
    static final ArchRule thePackagesOfIndexRemoteAreBehindIt = noClasses()
            .that()
            .resideOutsideOfPackage(in("index.remote"))
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(INSIDE_REMOTE);

    @ArchTest
    static final ArchRule exportedSignaturesShowNothingInternal = methods()
            .that()
            .areDeclaredInClassesThat(EXPORTED)
            .and()
            .arePublic()
            .should(nameNothingInternal());

    @ArchTest
    static final ArchRule exportedTypesCannotBeExtendedUnlessMeantTo = classes()
            .that(EXPORTED)
            .and()
            .areNotInterfaces()
            .and()
            .areNotEnums()
            .and()
            .doNotHaveModifier(JavaModifier.ABSTRACT)
            .and()
            .areNotAssignableTo(Throwable.class)
            .should(beFinalOrSealed());

    @ArchTest
    static final ArchRule nativeFunctionsAreBoundInOnePackageAModule = noClasses()
            .that()
            .resideInAnyPackage("io.github.roost..")
            .and()
            .resideOutsideOfPackages(NATIVE)
            .and()
            .resideOutsideOfPackage(in("testkit"))
            .should()
            .dependOnClassesThat()
            .areAssignableTo(Linker.class)
            .orShould()
            .dependOnClassesThat()
            .areAssignableTo(SymbolLookup.class)
            .orShould()
            .dependOnClassesThat()
            .areAssignableTo(FunctionDescriptor.class);

    @ArchTest
    static final ArchRule addressesStayWithTheNativeFunctions = noClasses()
            .that()
            .resideInAnyPackage("io.github.roost..")
            .and()
            .resideOutsideOfPackages(NATIVE)
            .should()
            .callMethod(MemorySegment.class, "address")
            .orShould()
            .callMethod(MemorySegment.class, "ofAddress", long.class)
            .orShould()
            .callMethod(MemorySegment.class, "reinterpret", long.class);

    @ArchTest
    static final ArchRule decisionsKnowNeitherPoolNorOrchestrator = noClasses()
            .that()
            .resideInAnyPackage(
                    "io.github.roost.core.dispatch..",
                    "io.github.roost.core.mapping..",
                    "io.github.roost.core.monitor..",
                    "io.github.roost.core.policy..",
                    "io.github.roost.core.remap..")
            .should()
            .dependOnClassesThat(resideInAnyPackage(POOL, TASK, "io.github.roost.core"));

    /** Requests are one slice: types of the root package, and those of the SPI. */
    @ArchTest
    static final ArchRule packagesOfCoreHaveNoCycles = slices().assignedFrom(
                    packagesOf("io.github.roost.core", "requests", BoundariesTest::isOfRequests))
            .should()
            .beFreeOfCycles();

    @ArchTest
    static final ArchRule packagesOfIndexRemoteHaveNoCycles = slices().assignedFrom(
                    packagesOf("io.github.roost.index.remote", "providers", BoundariesTest::isOfProviders))
            .should()
            .beFreeOfCycles();

    /** From the facade to search, update and build, and from these to the format. */
    @ArchTest
    static final ArchRule packagesOfIndexDiskHaveNoCycles = slices().assignedFrom(
                    packagesOf("io.github.roost.index.disk"))
            .should()
            .beFreeOfCycles();

    @ArchTest
    static final ArchRule packagesOfBenchHaveNoCycles =
            slices().matching("io.github.roost.bench.(*)..").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule librariesPrintNothing =
            noClasses().that().resideInAnyPackage(LIBRARIES).should(ACCESS_STANDARD_STREAMS);

    @ArchTest
    static final ArchRule librariesLogThroughSlf4jAlone = noClasses()
            .that()
            .resideInAnyPackage(LIBRARIES)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "java.util.logging..", "org.apache.logging..", "org.apache.log4j..", "ch.qos.logback..");

    @ArchTest
    static final ArchRule openHftIsOptional = noClasses()
            .that()
            .resideInAnyPackage(LIBRARIES)
            .and()
            .resideOutsideOfPackage(in("affinity"))
            .should()
            .dependOnClassesThat()
            .resideInAPackage("net.openhft..");

    @ArchTest
    static final ArchRule micrometerIsOptional = noClasses()
            .that()
            .resideInAnyPackage(LIBRARIES)
            .and()
            .resideOutsideOfPackages("io.github.roost.core.metrics..", "io.github.roost.springai..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.micrometer..");

    @ArchTest
    static final ArchRule etcdIsOptional = noClasses()
            .that()
            .resideInAnyPackage(LIBRARIES)
            .and()
            .resideOutsideOfPackage("io.github.roost.rows.service.etcd..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.etcd..");

    @ArchTest
    static final ArchRule ucxIsOptional = noClasses()
            .that()
            .resideInAnyPackage(LIBRARIES)
            .and()
            .resideOutsideOfPackage(UCX)
            .should()
            .dependOnClassesThat()
            .resideInAPackage("org.openucx..");

    /** Every package of a module as a slice of its own; the types below the internals, which its root package has too, as another. */
    private static SliceAssignment packagesOf(String root, String nameOfBase, Predicate<JavaClass> isOfBase) {
        return new SliceAssignment() {
            @Override
            public SliceIdentifier getIdentifierOf(JavaClass type) {
                String name = type.getPackageName();
                if (!name.equals(root) && !name.startsWith(root + ".")) {
                    return SliceIdentifier.ignore();
                }
                return SliceIdentifier.of(isOfBase.test(type) ? nameOfBase : name);
            }

            @Override
            public String getDescription() {
                return "packages of " + root;
            }
        };
    }

    /** The package and each of those below it as a slice of its own. */
    private static SliceAssignment packagesOf(String root) {
        return new SliceAssignment() {
            @Override
            public SliceIdentifier getIdentifierOf(JavaClass type) {
                String name = type.getPackageName();
                return name.equals(root) || name.startsWith(root + ".")
                        ? SliceIdentifier.of(name)
                        : SliceIdentifier.ignore();
            }

            @Override
            public String getDescription() {
                return "packages of " + root;
            }
        };
    }

    private static boolean isOfRequests(JavaClass type) {
        return type.getPackageName().equals(SPI)
                || (type.getPackageName().equals("io.github.roost.core")
                        && (type.isAssignableTo(Throwable.class)
                                || REQUEST_TYPES.contains(outermost(type).getSimpleName())));
    }

    private static boolean isOfProviders(JavaClass type) {
        return type.getPackageName().equals("io.github.roost.index.remote")
                && (type.isAssignableTo(Throwable.class)
                        || PROVIDER_TYPES.contains(outermost(type).getSimpleName()));
    }

    private static JavaClass outermost(JavaClass type) {
        return type.getEnclosingClass().map(BoundariesTest::outermost).orElse(type);
    }

    private static ArchRule onlyUsedBy(String internal, String module) {
        return noClasses()
                .that()
                .resideOutsideOfPackage(module)
                .should()
                .dependOnClassesThat()
                .resideInAPackage(internal);
    }

    private static boolean isPublic(JavaClass type) {
        return type.getModifiers().contains(JavaModifier.PUBLIC)
                && type.getEnclosingClass().map(BoundariesTest::isPublic).orElse(true);
    }

    private static ArchCondition<JavaClass> beFinalOrSealed() {
        return ArchCondition.from(DescribedPredicate.describe(
                "be final or sealed",
                type -> type.getModifiers().contains(JavaModifier.FINAL)
                        || type.reflect().isSealed()));
    }

    private static ArchCondition<JavaMethod> nameNothingInternal() {
        DescribedPredicate<JavaClass> internal =
                resideInAnyPackage(INTERNALS).or(resideInAnyPackage(DECISIONS)).or(resideInAnyPackage(INSIDE_REMOTE));
        return new ArchCondition<>("name nothing internal") {
            @Override
            public void check(JavaMethod method, ConditionEvents events) {
                Stream.concat(
                                method.getReturnType().getAllInvolvedRawTypes().stream(),
                                method.getParameterTypes().stream()
                                        .flatMap(type -> type.getAllInvolvedRawTypes().stream()))
                        .filter(internal)
                        .forEach(type -> events.add(SimpleConditionEvent.violated(
                                method, method.getFullName() + " shows " + type.getName())));
            }
        };
    }
}
