package io.github.roost.core.remap;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.mapping.Mapping;
import io.github.roost.core.mapping.MappingPolicy;
import io.github.roost.core.mapping.RemapTrigger;
import io.github.roost.core.monitor.Traffic;
import io.github.roost.core.monitor.TrafficWindows;
import io.github.roost.core.remap.RemapRule.Remap;
import java.util.Arrays;
import java.util.Optional;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class RemapBenefitTest {
    private static final int CACHE = 1_000;
    private static final Mapping CROWDED = Mapping.of(2, new int[] {0, 0});
    private static final Mapping SPREAD = Mapping.of(2, new int[] {0, 1});

    private static RemapBenefit benefit(Mapping current, Mapping proposed, long... bytes) {
        return RemapBenefit.of(current, proposed, bytes, CACHE);
    }

    @Test
    void bytesAboveTheFairShareAreSavedAndWhatMovesIsReadOnce() {
        assertThat(benefit(CROWDED, SPREAD, 600, 400)).isEqualTo(new RemapBenefit(400, 400));
    }

    @Test
    void noMoreMovesIntoADomainThanItsCacheHolds() {
        assertThat(benefit(CROWDED, SPREAD, 6_000, 4_000)).isEqualTo(new RemapBenefit(4_000, CACHE));
    }

    @Test
    void eachDomainHasACacheOfItsOwn() {
        Mapping before = Mapping.of(3, new int[] {0, 0, 0});
        Mapping after = Mapping.of(3, new int[] {0, 1, 2});
        assertThat(benefit(before, after, 5_000, 5_000, 5_000)).isEqualTo(new RemapBenefit(10_000, 2 * CACHE));
    }

    @Test
    void aSecondHomeReadsItsPart() {
        Mapping before = Mapping.of(2, new int[] {0});
        Mapping after = before.edit(1).homes(0, 0, 1).build();
        assertThat(benefit(before, after, 800)).isEqualTo(new RemapBenefit(400, 400));
        assertThat(benefit(after, before, 800)).isEqualTo(new RemapBenefit(-400, 0));
    }

    @Test
    void whereNoCacheIsKnownMovingIsFree() {
        assertThat(RemapBenefit.of(CROWDED, SPREAD, new long[] {600, 400}, 0)).isEqualTo(new RemapBenefit(400, 0));
    }

    @Test
    void theDefaultTriggerRemapsOnlyWhereTheNextWindowGainsByIt() {
        Traffic little = new Traffic(new long[] {600, 400}, new long[] {60_000, 40_000});
        Traffic much = new Traffic(new long[] {6_000, 4_000}, new long[] {60_000, 40_000});
        assertThat(RemapRule.pays(RemapTrigger.DEFAULT, CROWDED, SPREAD, little, CACHE))
                .isFalse();
        assertThat(RemapRule.pays(RemapTrigger.DEFAULT, CROWDED, SPREAD, much, CACHE))
                .isTrue();
        assertThat(RemapRule.pays(new RemapTrigger(.15, 6), CROWDED, SPREAD, little, CACHE))
                .isTrue();
    }

    /** The long window, which still shows the time before the shift, must not undo what the short window has just made right. */
    @Test
    void aLastingShiftOfPopularityMovesHomesOnce() {
        Traffic before = searches(100_000, 100_000, 1_000);
        Traffic after = searches(50_000, 50_000, 100_000);
        RemapRule rule = new RemapRule(MappingPolicy.stayingPairing(), RemapTrigger.DEFAULT);
        TrafficWindows windows = new TrafficWindows(6);
        Mapping mapping = Mapping.of(2, new int[] {0, 1, 1});
        Traffic totals = Traffic.none(3);
        int remaps = 0;
        for (int window = 0; window < 30; window++) {
            totals = totals.plus(window < 10 ? before : after);
            windows.endShortWindow(totals);
            Optional<Remap> remap = rule.atWindowEnd(mapping, windows, CACHE);
            remaps += remap.isPresent() ? 1 : 0;
            mapping = remap.map(Remap::mapping).orElse(mapping);
        }
        assertThat(remaps).isEqualTo(1);
        assertThat(mapping.home(0, 0)).isEqualTo(mapping.home(1, 0)).isNotEqualTo(mapping.home(2, 0));
    }

    private static Traffic searches(long... counts) {
        return new Traffic(LongStream.of(counts).map(count -> count * 1_000).toArray(), counts);
    }

    /**
     * Popularity is exchanged in every 25th window, as in the timeline of {@code sim --figures}. What the windows after the
     * remaps really saved is compared with what moved.
     */
    @Test
    void inAThousandWindowsOfDriftRemapsSaveMoreThanTheyMove() {
        int items = 60;
        int domains = 12;
        Random random = new Random(5);
        double[] popularity = new double[items];
        for (int i = 0; i < items; i++) {
            popularity[i] = 1 / (1.0 + i);
        }
        RemapRule rule = new RemapRule(MappingPolicy.stayingPairing(), RemapTrigger.DEFAULT);
        TrafficWindows windows = new TrafficWindows(6);
        Mapping mapping = Mapping.of(domains, new int[items]);
        Traffic totals = Traffic.none(items);
        long cacheBytes = 32 << 20;
        Optional<Remap> last = Optional.empty();
        Mapping before = mapping;
        int remaps = 0;
        int lossy = 0;
        long saved = 0;
        long moved = 0;
        for (int window = 0; window < 1_000; window++) {
            if (window % 25 == 0) {
                int a = random.nextInt(items);
                int b = random.nextInt(items);
                double kept = popularity[a];
                popularity[a] = popularity[b];
                popularity[b] = kept;
            }
            Traffic traffic = searched(popularity, 20_000, random);
            if (last.isPresent()) {
                RemapBenefit real = RemapBenefit.of(before, mapping, traffic.bytes(), cacheBytes);
                saved += real.savedBytes();
                moved += real.movedBytes();
                remaps++;
                lossy += real.pays() ? 0 : 1;
            }
            totals = totals.plus(traffic);
            windows.endShortWindow(totals);
            before = mapping;
            last = rule.atWindowEnd(mapping, windows, cacheBytes);
            mapping = last.map(Remap::mapping).orElse(mapping);
        }
        assertThat(remaps).isBetween(5, 100);
        assertThat(lossy).as("remaps that did not pay in the next window").isZero();
        assertThat(saved).isGreaterThan(moved);
    }

    private static Traffic searched(double[] popularity, int searches, Random random) {
        double sum = Arrays.stream(popularity).sum();
        long[] counts = Arrays.stream(popularity)
                .mapToLong(share -> {
                    double mean = searches * share / sum;
                    return Math.max(0, Math.round(mean + Math.sqrt(mean) * random.nextGaussian()));
                })
                .toArray();
        return new Traffic(LongStream.of(counts).map(count -> count * 300_000).toArray(), counts);
    }
}
