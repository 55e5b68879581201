package io.github.roost.core.mapping;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The home domains of each mapping id: an immutable snapshot with an epoch. Mapping ids are identified by slot, an
 * index into dense arrays. Nearly all have one home; an id with more traffic than a domain's fair share has several.
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
     * Returns the mapping without slots, epoch 0.
     *
     * @param domains number of cache domains, at least 1
     * @return the mapping
     */
    public static Mapping empty(int domains) {
        return new Mapping(0, domains, new int[0], new int[0][]);
    }

    /**
     * Returns a mapping with one home per slot, epoch 0.
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

    /** {@return the number of this snapshot; later mappings have larger epochs} */
    public long epoch() {
        return epoch;
    }

    /** {@return the number of cache domains} */
    public int domains() {
        return domains;
    }

    /** {@return the number of slots, including slots of unregistered ids} */
    public int slots() {
        return firstHome.length;
    }

    /**
     * Returns the number of homes of a slot.
     *
     * @param slot a slot, from 0 to {@link #slots()} exclusive
     * @return at least 1
     */
    public int homeCount(int slot) {
        int[] homes = allHomes[slot];
        return homes == null ? 1 : homes.length;
    }

    /**
     * Returns one home of a slot.
     *
     * @param slot a slot, from 0 to {@link #slots()} exclusive
     * @param index the index of the home, from 0 to {@link #homeCount(int)} exclusive
     * @return the index of a domain
     */
    public int home(int slot, int index) {
        int[] homes = allHomes[slot];
        return homes == null ? firstHome[slot] : homes[index];
    }

    /**
     * Returns all homes of a slot.
     *
     * @param slot a slot, from 0 to {@link #slots()} exclusive
     * @return a copy of the indices of its domains
     */
    public int[] homes(int slot) {
        int[] homes = allHomes[slot];
        return homes == null ? new int[] {firstHome[slot]} : homes.clone();
    }

    /**
     * Returns whether a domain is a home of a slot.
     *
     * @param slot a slot, from 0 to {@link #slots()} exclusive
     * @param domain the index of a domain
     * @return whether the domain is a home of the slot
     */
    public boolean isHome(int slot, int domain) {
        int[] homes = allHomes[slot];
        if (homes == null) {
            return firstHome[slot] == domain;
        }
        return Arrays.stream(homes).anyMatch(home -> home == domain);
    }

    /**
     * Returns a mapping with the same homes and another epoch.
     *
     * @param newEpoch the epoch
     * @return the mapping
     */
    public Mapping withEpoch(long newEpoch) {
        return new Mapping(newEpoch, domains, firstHome, allHomes);
    }

    /**
     * Returns an editor that starts from this mapping.
     *
     * @param slots the number of slots; new slots start with domain 0 as their home
     * @return the editor
     */
    public Editor edit(int slots) {
        return new Editor(domains, Arrays.copyOf(firstHome, slots), Arrays.copyOf(allHomes, slots));
    }

    /**
     * Returns whether two mappings have the same homes for every slot.
     *
     * @param other the mapping to compare with
     * @return whether the homes are the same; epochs may differ
     */
    public boolean sameHomes(Mapping other) {
        return Arrays.equals(firstHome, other.firstHome) && Arrays.deepEquals(allHomes, other.allHomes);
    }

    /**
     * Returns whether two mappings have the same homes for one slot.
     *
     * @param other the mapping to compare with
     * @param slot a slot of both mappings
     * @return whether the homes are the same
     */
    public boolean sameHomes(Mapping other, int slot) {
        return firstHome[slot] == other.firstHome[slot] && Arrays.equals(allHomes[slot], other.allHomes[slot]);
    }

    /** Builder of the next mapping. Not thread-safe. */
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
         * Sets the only home of a slot.
         *
         * @param slot the slot
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
         * Sets several homes of a slot.
         *
         * @param slot the slot
         * @param homes its homes, at least one, all distinct
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

        /** {@return the mapping, with epoch 0} */
        public Mapping build() {
            return new Mapping(0, domains, firstHome.clone(), allHomes.clone());
        }
    }
}
