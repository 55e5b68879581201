package io.github.roost.core.mapping;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Which cache domains are home to which mapping id: an immutable snapshot with an epoch. Mapping ids are named by slot,
 * their index in dense arrays. Almost all have one home; one hotter than a domain's fair share has several.
 */
public final class Mapping {
    private final long epoch;
    private final int domains;
    private final int[] firstHome;
    private final int[] @Nullable [] allHomes;

    private Mapping(long epoch, int domains, int[] firstHome, int[] @Nullable [] allHomes) {
        this.epoch = epoch;
        this.domains = domains;
        this.firstHome = firstHome;
        this.allHomes = allHomes;
    }

    /**
     * The mapping of no slots, epoch 0.
     *
     * @param domains number of cache domains, at least 1
     * @return the mapping
     */
    public static Mapping empty(int domains) {
        return new Mapping(0, domains, new int[0], new int[0][]);
    }

    /**
     * A mapping with one home per slot, epoch 0.
     *
     * @param domains number of cache domains, at least 1
     * @param homes one domain per slot
     * @return the mapping
     */
    public static Mapping of(int domains, int[] homes) {
        for (int home : homes) {
            checkHome(home, domains);
        }
        return new Mapping(0, domains, homes.clone(), new int[homes.length][]);
    }

    private static void checkHome(int home, int domains) {
        if (home < 0 || home >= domains) {
            throw new IllegalArgumentException("home must be between 0 and " + (domains - 1) + ", got " + home);
        }
    }

    /** {@return the number by which snapshots are told apart; later ones are larger} */
    public long epoch() {
        return epoch;
    }

    /** {@return the number of cache domains} */
    public int domains() {
        return domains;
    }

    /** {@return the number of slots, those of unregistered ids included} */
    public int slots() {
        return firstHome.length;
    }

    /**
     * How many homes a slot has.
     *
     * @param slot from 0 to {@link #slots()} exclusive
     * @return at least 1
     */
    public int homeCount(int slot) {
        int[] homes = allHomes[slot];
        return homes == null ? 1 : homes.length;
    }

    /**
     * One home of a slot.
     *
     * @param slot from 0 to {@link #slots()} exclusive
     * @param index from 0 to {@link #homeCount(int)} exclusive
     * @return index of a domain
     */
    public int home(int slot, int index) {
        int[] homes = allHomes[slot];
        return homes == null ? firstHome[slot] : homes[index];
    }

    /**
     * All homes of a slot.
     *
     * @param slot from 0 to {@link #slots()} exclusive
     * @return a copy
     */
    public int[] homes(int slot) {
        int[] homes = allHomes[slot];
        return homes == null ? new int[] {firstHome[slot]} : homes.clone();
    }

    /**
     * Whether a domain is one of a slot's homes.
     *
     * @param slot from 0 to {@link #slots()} exclusive
     * @param domain index of a domain
     * @return whether it is
     */
    public boolean isHome(int slot, int domain) {
        int[] homes = allHomes[slot];
        if (homes == null) {
            return firstHome[slot] == domain;
        }
        return Arrays.stream(homes).anyMatch(home -> home == domain);
    }

    /**
     * The same homes under another epoch.
     *
     * @param newEpoch its number
     * @return the mapping
     */
    public Mapping withEpoch(long newEpoch) {
        return new Mapping(newEpoch, domains, firstHome, allHomes);
    }

    /**
     * A mapping to change and build, starting from this one.
     *
     * @param slots number of slots; new ones start at domain 0
     * @return the editor
     */
    public Editor edit(int slots) {
        return new Editor(domains, Arrays.copyOf(firstHome, slots), Arrays.copyOf(allHomes, slots));
    }

    /**
     * Whether both give every slot the same homes.
     *
     * @param other the mapping to compare with
     * @return whether they do; epochs may differ
     */
    public boolean sameHomes(Mapping other) {
        return Arrays.equals(firstHome, other.firstHome) && Arrays.deepEquals(allHomes, other.allHomes);
    }

    /**
     * Whether both give one slot the same homes.
     *
     * @param other the mapping to compare with
     * @param slot of both
     * @return whether they do
     */
    public boolean sameHomes(Mapping other, int slot) {
        return firstHome[slot] == other.firstHome[slot] && Arrays.equals(allHomes[slot], other.allHomes[slot]);
    }

    /** Collects homes for the next mapping. Not thread-safe. */
    public static final class Editor {
        private final int domains;
        private final int[] firstHome;
        private final int[] @Nullable [] allHomes;

        private Editor(int domains, int[] firstHome, int[] @Nullable [] allHomes) {
            this.domains = domains;
            this.firstHome = firstHome;
            this.allHomes = allHomes;
        }

        /**
         * Gives a slot one home.
         *
         * @param slot which
         * @param domain its only home
         * @return this editor
         */
        public Editor home(int slot, int domain) {
            checkHome(domain, domains);
            firstHome[slot] = domain;
            allHomes[slot] = null;
            return this;
        }

        /**
         * Gives a slot several homes, all different.
         *
         * @param slot which
         * @param homes at least one, all different
         * @return this editor
         */
        public Editor homes(int slot, int... homes) {
            for (int home : homes) {
                checkHome(home, domains);
            }
            if (homes.length == 0) {
                throw new IllegalArgumentException("slot " + slot + " must have at least one home, got none");
            }
            if (Arrays.stream(homes).distinct().count() != homes.length) {
                throw new IllegalArgumentException("homes must differ, got " + Arrays.toString(homes));
            }
            firstHome[slot] = homes[0];
            allHomes[slot] = homes.length == 1 ? null : homes.clone();
            return this;
        }

        /** {@return the mapping, epoch 0 until it is published} */
        public Mapping build() {
            return new Mapping(0, domains, firstHome.clone(), allHomes.clone());
        }
    }
}
