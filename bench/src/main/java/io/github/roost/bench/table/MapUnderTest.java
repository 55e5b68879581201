package io.github.roost.bench.table;

import com.carrotsearch.hppc.LongLongHashMap;
import io.github.roost.neighborhash.NeighborHashMap;
import it.unimi.dsi.fastutil.longs.Long2LongOpenHashMap;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.agrona.collections.Long2LongHashMap;

/** A way to look keys up, one at a time or in batches. Every map has its own loop, so that the JIT compiles each separately. */
interface MapUnderTest {
    /** A max load that makes the maps as full as NeighborHashMap. */
    float SAME_LOAD = .81f;

    long MISSING = NeighborHashMap.ABSENT;

    /** The name in the report. */
    String name();

    /** Looks all keys up; returns the sum of their payloads, -1 for each absent key. */
    long sum(long[] wanted);

    /** Creates the maps, with payload i for key i: NeighborHashMap, maps with as much memory as NeighborHashMap, then maps with their default load. */
    static List<MapUnderTest> scalar(long[] keys, NeighborHashMap table) {
        List<MapUnderTest> maps = new ArrayList<>();
        maps.add(new OneByOne(table));
        for (boolean isSameLoad : new boolean[] {true, false}) {
            String suffix = isSameLoad ? "" : " as it comes";
            Long2LongOpenHashMap fastutil = isSameLoad
                    ? new Long2LongOpenHashMap(keys.length, SAME_LOAD)
                    : new Long2LongOpenHashMap(keys.length);
            fastutil.defaultReturnValue(MISSING);
            Long2LongHashMap agrona = isSameLoad
                    ? new Long2LongHashMap(keys.length, SAME_LOAD, MISSING, true)
                    : new Long2LongHashMap(keys.length, .65f, MISSING, true);
            LongLongHashMap hppc =
                    isSameLoad ? new LongLongHashMap(keys.length, SAME_LOAD) : new LongLongHashMap(keys.length);
            for (int i = 0; i < keys.length; i++) {
                fastutil.put(keys[i], i);
                agrona.put(keys[i], i);
                hppc.put(keys[i], i);
            }
            maps.add(new Fastutil("fastutil" + suffix, fastutil));
            maps.add(new Agrona("Agrona" + suffix, agrona));
            maps.add(new Hppc("HPPC" + suffix, hppc));
        }
        var eclipse = new org.eclipse.collections.impl.map.mutable.primitive.LongLongHashMap(keys.length);
        for (int i = 0; i < keys.length; i++) {
            eclipse.put(keys[i], i);
        }
        maps.add(new Eclipse("Eclipse as it comes", eclipse));
        return maps;
    }

    /** NeighborHashMap's {@code get}. */
    record OneByOne(NeighborHashMap table) implements MapUnderTest {
        @Override
        public String name() {
            return "NeighborHashMap";
        }

        @Override
        public long sum(long[] wanted) {
            long sum = 0;
            for (long key : wanted) {
                sum += table.get(key, MISSING);
            }
            return sum;
        }
    }

    /** NeighborHashMap's {@code getAll}, with {@code batch} keys per call. */
    record Batches(String name, NeighborHashMap table, int batch, long[] found) implements MapUnderTest {
        @Override
        public long sum(long[] wanted) {
            MemorySegment keys = MemorySegment.ofArray(wanted);
            MemorySegment payloads = MemorySegment.ofArray(found);
            for (int from = 0; from < wanted.length; from += batch) {
                int n = Math.min(batch, wanted.length - from);
                long at = (long) from * Long.BYTES;
                int present = table.getAll(keys.asSlice(at), n, payloads.asSlice(at));
                if (present > n) {
                    throw new IllegalStateException("found " + present + " of " + n);
                }
            }
            long sum = 0;
            for (long payload : found) {
                sum += payload;
            }
            return sum;
        }
    }

    /** Fastutil's map. */
    record Fastutil(String name, Long2LongOpenHashMap map) implements MapUnderTest {
        @Override
        public long sum(long[] wanted) {
            long sum = 0;
            for (long key : wanted) {
                sum += map.get(key);
            }
            return sum;
        }
    }

    /** Agrona's map. */
    record Agrona(String name, Long2LongHashMap map) implements MapUnderTest {
        @Override
        public long sum(long[] wanted) {
            long sum = 0;
            for (long key : wanted) {
                sum += map.get(key);
            }
            return sum;
        }
    }

    /** HPPC's map. */
    record Hppc(String name, LongLongHashMap map) implements MapUnderTest {
        @Override
        public long sum(long[] wanted) {
            long sum = 0;
            for (long key : wanted) {
                sum += map.getOrDefault(key, MISSING);
            }
            return sum;
        }
    }

    /** The map of Eclipse Collections, which fills at most half of its slots. */
    record Eclipse(String name, org.eclipse.collections.impl.map.mutable.primitive.LongLongHashMap map)
            implements MapUnderTest {
        @Override
        public long sum(long[] wanted) {
            long sum = 0;
            for (long key : wanted) {
                sum += map.getIfAbsent(key, MISSING);
            }
            return sum;
        }
    }
}
