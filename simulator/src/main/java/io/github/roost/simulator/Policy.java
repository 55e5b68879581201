package io.github.roost.simulator;

import io.github.roost.core.mapping.MappingPolicy;
import io.github.roost.core.mapping.RemapTrigger;
import io.github.roost.core.policy.SchedulingPolicy;
import io.github.roost.core.remap.RemapRule;
import io.github.roost.core.spi.GroupRule;
import io.github.roost.simulator.measure.Schedulings;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * How searches are scheduled in a simulation.
 *
 * @param name on the command line and in reports
 * @param scheduling dispatch and stealing
 * @param rule remapping at the end of a window, if the scheduling uses homes
 * @param forkJoin whether IVF queries run one at a time, each spread over all cores and waited for, as in FAISS
 * @param groups how queries that wait for the same list are scanned together; null if each is scanned alone
 * @param regions max mapping ids per HNSW table: searches are divided among them by the region that they read
 */
public record Policy(
        String name,
        SchedulingPolicy scheduling,
        RemapRule rule,
        boolean forkJoin,
        @Nullable GroupRule groups,
        int regions) {
    private static final int REGIONS = 64;

    /** One task takes all waiting queries: the baseline that shows the effect of small groups. */
    private static final GroupRule ALL_THAT_WAIT =
            new GroupRule(Integer.MAX_VALUE, Integer.MAX_VALUE, Integer.MAX_VALUE, 1);

    /** Remaps for any gain: the paper remaps at the end of every window. */
    private static final RemapTrigger ALWAYS = new RemapTrigger(1e-9, 0);

    /** The default of an orchestrator. */
    public static final RemapRule ROOST_RULE = new RemapRule(MappingPolicy.stayingPairing(), RemapTrigger.DEFAULT);

    /** The paper's design: Algorithm 1 at the end of every window. */
    public static final RemapRule PAPER = new RemapRule(MappingPolicy.hotColdPairing(), ALWAYS);

    private static final List<Policy> ALL = List.of(
            paper("v0", true),
            paper("v1", false),
            paper("v2", false),
            paper("v2-gated", false),
            aged("v2-homes", new SeveralHomes(), ALWAYS, null),
            aged("v2-staying", MappingPolicy.stayingPairing(), RemapTrigger.DEFAULT, null),
            aged("v2-batch-queues", MappingPolicy.hotColdPairing(), ALWAYS, ALL_THAT_WAIT),
            aged("roost-whole", MappingPolicy.stayingPairing(), RemapTrigger.DEFAULT, ALL_THAT_WAIT),
            aged("roost-undivided", MappingPolicy.stayingPairing(), RemapTrigger.DEFAULT, GroupRule.DEFAULT),
            aged("roost", MappingPolicy.stayingPairing(), RemapTrigger.DEFAULT, GroupRule.DEFAULT)
                    .inRegions());

    /** Names of all policies. */
    public static final List<String> NAMES = ALL.stream().map(Policy::name).toList();

    private static Policy paper(String name, boolean forkJoin) {
        return new Policy(name, Schedulings.named(name).orElseThrow(), PAPER, forkJoin, null, 1);
    }

    private static Policy aged(String name, MappingPolicy mapping, RemapTrigger trigger, @Nullable GroupRule groups) {
        return new Policy(name, SchedulingPolicy.HOME_DOMAIN, new RemapRule(mapping, trigger), false, groups, 1);
    }

    /** Returns a copy that divides the searches of large tables by region, as an HNSW table does. */
    private Policy inRegions() {
        return new Policy(name, scheduling, rule, forkJoin, groups, REGIONS);
    }

    /** Returns a copy for tables of their own size, which have no copies to divide. */
    public Policy undivided() {
        return new Policy(name, scheduling, rule, forkJoin, groups, 1);
    }

    /**
     * Parses names of policies, separated by commas.
     *
     * @throws IllegalArgumentException if a name is not in {@link #NAMES}
     */
    public static List<Policy> parse(String names) {
        return Arrays.stream(names.split(",", -1)).map(Policy::named).toList();
    }

    private static Policy named(String name) {
        return ALL.stream()
                .filter(policy -> policy.name.equals(name.strip().toLowerCase(Locale.ROOT)))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("policy must be one of " + NAMES + ", got " + name));
    }
}
