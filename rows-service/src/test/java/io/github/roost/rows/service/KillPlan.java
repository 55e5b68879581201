package io.github.roost.rows.service;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Chooses which process is killed or replaced in which phase of a roll: the least often chosen one, so that each occurs in each phase. Not
 * thread-safe.
 */
final class KillPlan {
    /** A phase of a roll. */
    enum Phase {
        ANNOUNCED,
        /** An order is in transit to a server. */
        LOAD_SENT,
        LOADING,
        /** The answer is in transit to the coordinator. */
        LOADED,
        UNLOAD_SENT,
        UNLOADING,
        UNLOADED,
        /**
         * The unload of a version to make room, because a server has two versions other than the one that it is to have; counted over all groups,
         * since it is rare.
         */
        ROOM_SENT,
        /** The coordinator waits until no client asks for the previous version. */
        SETTLING;

        boolean isOfGroup() {
            return this != ANNOUNCED && this != ROOM_SENT && this != SETTLING;
        }

        boolean isOfServer() {
            return this != ANNOUNCED && this != SETTLING;
        }
    }

    /** The process that is killed or replaced. */
    enum Victim {
        /** The server of the order. */
        SERVER,
        /** Any other server. */
        OTHER_SERVER,
        COORDINATOR,
        /** Nothing is killed: another coordinator takes charge while the first one continues. */
        RIVAL
    }

    private final SplittableRandom random;
    private final Map<String, Map<Victim, Long>> counts = new LinkedHashMap<>();

    KillPlan(int groups, SplittableRandom random) {
        this.random = random;
        for (Phase phase : Phase.values()) {
            for (int group = 0; group < (phase.isOfGroup() ? groups : 1); group++) {
                Map<Victim, Long> ofPhase = new LinkedHashMap<>();
                for (Victim victim : Victim.values()) {
                    if (phase.isOfServer() || victim != Victim.SERVER) {
                        ofPhase.put(victim, 0L);
                    }
                }
                counts.put(name(phase, group), ofPhase);
            }
        }
    }

    private static String name(Phase phase, int group) {
        return phase + (phase.isOfGroup() ? ", group " + group : "");
    }

    /** The victim in a phase that has just begun; usually null. */
    @Nullable
    Victim next(Phase phase, int group) {
        Map<Victim, Long> ofPhase = of(phase, group);
        List<Victim> victims = new ArrayList<>(ofPhase.keySet());
        Victim rarest = victims.stream()
                .min(Comparator.comparing(victim -> ofPhase.getOrDefault(victim, 0L)))
                .orElseThrow();
        boolean isMissing = ofPhase.getOrDefault(rarest, 0L) == 0;
        return isMissing || random.nextInt(4) == 0 ? rarest : null;
    }

    void count(Phase phase, int group, Victim victim) {
        of(phase, group).merge(victim, 1L, Long::sum);
    }

    private Map<Victim, Long> of(Phase phase, int group) {
        Map<Victim, Long> found = counts.get(name(phase, group));
        if (found == null) {
            throw new IllegalArgumentException("group must exist, got " + group);
        }
        return found;
    }

    /** How often each victim was chosen in each phase, including zeros. */
    Map<String, Map<Victim, Long>> counts() {
        return counts;
    }
}
