package io.github.roost.bench.sim;

import io.github.roost.bench.Schedulings;
import io.github.roost.core.mapping.HotColdPairing;
import io.github.roost.core.mapping.MappingPolicy;
import io.github.roost.core.mapping.RemapTrigger;
import io.github.roost.core.mapping.StayingPairing;
import io.github.roost.core.policy.GroupRule;
import io.github.roost.core.policy.SchedulingPolicy;
import io.github.roost.core.remap.RemapRule;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * How searches are scheduled in a simulation.
 *
 * @param name on the command line and in reports
 * @param scheduling dispatch and stealing
 * @param rule what the end of a window brings, where the scheduling uses homes
 * @param forkJoin whether one IVF query at a time is spread over all cores and waited for, as FAISS does
 * @param groups how queries that wait for one list are scanned together; null where each is scanned for alone
 * @param measures whether the gate heeds what crossing was measured to cost, as Roost's does; the article's does not
 * @param regions mapping ids of each HNSW table at most: its searches are divided among them by what part of it they read
 */
public record Policy(
        String name,
        SchedulingPolicy scheduling,
        RemapRule rule,
        boolean forkJoin,
        @Nullable GroupRule groups,
        boolean measures,
        int regions) {
    private static final int REGIONS = 64;

    /** All that wait, by one task: to see what small groups bring. */
    private static final GroupRule ALL_THAT_WAIT =
            new GroupRule(Integer.MAX_VALUE, Integer.MAX_VALUE, Integer.MAX_VALUE, 1);

    /** Any gain at all: the paper remaps at the end of every window. */
    private static final RemapTrigger ALWAYS = new RemapTrigger(1e-9, 0);

    /** What an orchestrator does by default. */
    public static final RemapRule ROOST_RULE = new RemapRule(new StayingPairing(), RemapTrigger.DEFAULT);

    /** What the paper's design does: Algorithm 1 at the end of every window. */
    public static final RemapRule PAPER = new RemapRule(new HotColdPairing(), ALWAYS);

    private static final List<Policy> ALL = List.of(
            paper("v0", true),
            paper("v1", false),
            paper("v2", false),
            paper("v2-gated", false),
            gated("v2-homes", new SeveralHomes(), ALWAYS, null),
            gated("v2-staying", new StayingPairing(), RemapTrigger.DEFAULT, null),
            gated("v2-mailboxes", new HotColdPairing(), ALWAYS, ALL_THAT_WAIT),
            gated("roost-whole", new StayingPairing(), RemapTrigger.DEFAULT, ALL_THAT_WAIT),
            gated("roost-undivided", new StayingPairing(), RemapTrigger.DEFAULT, GroupRule.DEFAULT),
            gated("roost", new StayingPairing(), RemapTrigger.DEFAULT, GroupRule.DEFAULT)
                    .inRegions());

    /** Names of all policies. */
    public static final List<String> NAMES = ALL.stream().map(Policy::name).toList();

    private static Policy paper(String name, boolean forkJoin) {
        return new Policy(name, Schedulings.named(name).orElseThrow(), PAPER, forkJoin, null, false, 1);
    }

    private static Policy gated(String name, MappingPolicy mapping, RemapTrigger trigger, @Nullable GroupRule groups) {
        return new Policy(name, SchedulingPolicy.HOME_DOMAIN, new RemapRule(mapping, trigger), false, groups, true, 1);
    }

    /** The same, with the searches of large tables divided by region, as an HNSW table does. */
    private Policy inRegions() {
        return new Policy(name, scheduling, rule, forkJoin, groups, measures, REGIONS);
    }

    /** Policies by their names, separated by commas. */
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
