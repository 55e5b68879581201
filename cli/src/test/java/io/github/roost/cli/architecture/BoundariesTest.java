package io.github.roost.cli.architecture;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.GeneralCodingRules.ACCESS_STANDARD_STREAMS;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
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
import java.util.Set;
import java.util.stream.Stream;

/** The arrows between Roost's modules and packages, on the compiled classes. */
@AnalyzeClasses(packages = "io.github.roost", importOptions = DoNotIncludeTests.class)
class BoundariesTest {
    private static final String TOPOLOGY = "io.github.roost.topology..";
    private static final String AFFINITY = "io.github.roost.affinity..";
    private static final String CORE = "io.github.roost.core..";
    private static final String TABLE = "io.github.roost.rows..";
    private static final String TABLE_SERVICE = "io.github.roost.rows.service..";
    private static final String HNSW = "io.github.roost.index.hnsw..";
    private static final String IVF = "io.github.roost.index.ivf..";
    private static final String DISK = "io.github.roost.index.disk..";
    private static final String REMOTE = "io.github.roost.index.remote..";
    private static final String LUCENE = "io.github.roost.lucene..";
    private static final String OPENSEARCH = "io.github.roost.opensearch..";
    /** Not the plugin, whose log and whose exported types are OpenSearch's. */
    private static final String[] LIBRARIES = {
        TOPOLOGY, AFFINITY, CORE, TABLE, TABLE_SERVICE, HNSW, IVF, DISK, REMOTE, LUCENE
    };

    private static final String HWLOC = "io.github.roost.topology.hwloc..";
    private static final String POOL = "io.github.roost.core.pool..";
    private static final String PLACEMENT = "io.github.roost.core.placement..";
    /** Decisions that only core and the simulators, which decide alike, ask for. */
    private static final String[] DECISIONS = {
        "io.github.roost.core.dispatch..",
        "io.github.roost.core.monitor..",
        "io.github.roost.core.remap..",
        "io.github.roost.core.stall.."
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

    private static final String SPI = "io.github.roost.core.spi";
    private static final String RINGS = "io.github.roost.io.linux..";
    private static final String LIBRARIES_OF_KERNELS = "io.github.roost.vector.kernel..";
    private static final String LOOKUP = "io.github.roost.neighborhash.kernel..";
    private static final String GRAPH_SEARCH = "io.github.roost.index.hnsw.search..";
    private static final String KERNEL = "io.github.roost.index.ivf.kernel..";
    private static final String UCX = "io.github.roost.index.remote.ucx..";
    private static final String[] INTERNALS = {HWLOC, POOL, PLACEMENT, RINGS, LOOKUP, GRAPH_SEARCH, KERNEL};
    private static final String[] NATIVE = {HWLOC, RINGS, LIBRARIES_OF_KERNELS, LOOKUP, GRAPH_SEARCH, KERNEL, UCX};

    private static final DescribedPredicate<JavaClass> EXPORTED = resideInAnyPackage(LIBRARIES)
            .and(DescribedPredicate.not(resideInAnyPackage(INTERNALS)))
            .and(DescribedPredicate.not(resideInAnyPackage(DECISIONS)))
            .and(DescribedPredicate.describe("public", BoundariesTest::isPublic));

    @ArchTest
    static final ArchRule modulesDependDownwards = layeredArchitecture()
            .consideringOnlyDependenciesInLayers()
            .layer("topology")
            .definedBy(TOPOLOGY)
            .layer("affinity")
            .definedBy(AFFINITY)
            .layer("core")
            .definedBy(CORE)
            .layer("table")
            .definedBy(TABLE)
            .layer("table-service")
            .definedBy(TABLE_SERVICE)
            .layer("index-hnsw")
            .definedBy(HNSW)
            .layer("index-ivf")
            .definedBy(IVF)
            .layer("index-disk")
            .definedBy(DISK)
            .layer("index-remote")
            .definedBy(REMOTE)
            .layer("lucene")
            .definedBy(LUCENE)
            .layer("opensearch")
            .definedBy(OPENSEARCH)
            .layer("bench")
            .definedBy("io.github.roost.bench..")
            .layer("examples")
            .definedBy("io.github.roost.examples..")
            .whereLayer("examples")
            .mayNotBeAccessedByAnyLayer()
            .whereLayer("bench")
            .mayOnlyBeAccessedByLayers("examples")
            .whereLayer("affinity")
            .mayOnlyBeAccessedByLayers("examples")
            .whereLayer("table")
            .mayOnlyBeAccessedByLayers(
                    "table-service",
                    "index-hnsw",
                    "index-ivf",
                    "index-disk",
                    "index-remote",
                    "opensearch",
                    "bench",
                    "examples")
            .whereLayer("table-service")
            .mayOnlyBeAccessedByLayers("bench", "examples")
            .whereLayer("opensearch")
            .mayNotBeAccessedByAnyLayer()
            .whereLayer("lucene")
            .mayOnlyBeAccessedByLayers("opensearch", "examples")
            .whereLayer("index-hnsw")
            .mayOnlyBeAccessedByLayers("index-remote", "lucene", "bench", "examples")
            .whereLayer("index-ivf")
            .mayOnlyBeAccessedByLayers("lucene", "bench", "examples")
            .whereLayer("index-disk")
            .mayOnlyBeAccessedByLayers("bench", "examples")
            .whereLayer("index-remote")
            .mayOnlyBeAccessedByLayers("bench", "examples")
            .whereLayer("core")
            .mayOnlyBeAccessedByLayers(
                    "table",
                    "table-service",
                    "index-hnsw",
                    "index-ivf",
                    "index-disk",
                    "index-remote",
                    "lucene",
                    "opensearch",
                    "bench",
                    "examples");

    @ArchTest
    static final ArchRule hwlocIsBehindTopology = onlyUsedBy(HWLOC, TOPOLOGY);

    @ArchTest
    static final ArchRule thePoolIsBehindCore = onlyUsedBy(POOL, CORE);

    @ArchTest
    static final ArchRule placementIsBehindCore = onlyUsedBy(PLACEMENT, CORE);

    @ArchTest
    static final ArchRule decisionsAreBehindCoreAndTheSimulator = noClasses()
            .that()
            .resideOutsideOfPackages(CORE, "io.github.roost.bench..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(DECISIONS);

    @ArchTest
    static final ArchRule ringsAreBehindCore = onlyUsedBy(RINGS, CORE);

    @ArchTest
    static final ArchRule theLookupIsBehindTable = onlyUsedBy(LOOKUP, TABLE);

    @ArchTest
    static final ArchRule theSearchInCIsBehindIndexHnsw = onlyUsedBy(GRAPH_SEARCH, HNSW);

    @ArchTest
    static final ArchRule theKernelIsBehindIndexIvf = onlyUsedBy(KERNEL, IVF);

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
            .areNotAssignableTo(Throwable.class)
            .should()
            .haveModifier(JavaModifier.FINAL);

    @ArchTest
    static final ArchRule nativeFunctionsAreBoundInOnePackageAModule = noClasses()
            .that()
            .resideInAnyPackage("io.github.roost..")
            .and()
            .resideOutsideOfPackages(NATIVE)
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
                    "io.github.roost.core.remap..",
                    "io.github.roost.core.stall..")
            .should()
            .dependOnClassesThat(resideInAPackage(POOL).or(resideInAPackage("io.github.roost.core")));

    /** Requests are one slice: types of the root package, and those of the SPI. */
    @ArchTest
    static final ArchRule packagesOfCoreHaveNoCycles =
            slices().assignedFrom(packagesOfCore()).should().beFreeOfCycles();

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
            .resideOutsideOfPackage(AFFINITY)
            .should()
            .dependOnClassesThat()
            .resideInAPackage("net.openhft..");

    @ArchTest
    static final ArchRule micrometerIsOptional = noClasses()
            .that()
            .resideInAnyPackage(LIBRARIES)
            .and()
            .resideOutsideOfPackage("io.github.roost.core.metrics..")
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

    /** Every package of core as a slice of its own, and the types of requests as another. */
    private static SliceAssignment packagesOfCore() {
        String root = "io.github.roost.core";
        return new SliceAssignment() {
            @Override
            public SliceIdentifier getIdentifierOf(JavaClass type) {
                String name = type.getPackageName();
                if (name.equals(SPI) || (name.equals(root) && isOfRequests(type))) {
                    return SliceIdentifier.of("requests");
                }
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
        return type.isAssignableTo(Throwable.class)
                || REQUEST_TYPES.contains(outermost(type).getSimpleName());
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

    private static ArchCondition<JavaMethod> nameNothingInternal() {
        DescribedPredicate<JavaClass> internal = resideInAnyPackage(INTERNALS).or(resideInAnyPackage(DECISIONS));
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
