package io.github.roost.index.hnsw.search;

import io.github.roost.vector.Metric;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Codes of a node's neighbors, one bit per component, stored in the node's record (Gao and Long, RaBitQ, SIGMOD 2024; Gou et al.,
 * SymphonyQG, SIGMOD 2025). Let c be the node's vector, x a neighbor's, r = x - c, and s the signs of r after a random rotation R.
 * The product of r and any y is about f s·Ry with f = |r|² / Σ|Rr|. So the squared distance of x from a query q,
 * |q - c|² + |r|² - 2 r·(q - c), is about the squared distance of c, plus |r|² + 2 f s·Rc, which is stored with the code, minus
 * 2 f s·Rq. For the negated inner product the summands are f s·Rc - r·c and -f s·Rq. The s·Rq of 32 neighbors are summed from a
 * table of bytes (André et al., FastScan, VLDB 2015), which is filled once per query.
 *
 * <p>Performs the same steps as neighbor_codes.c and estimate_body.h, so that both get the same bits. Stateless.
 */
public final class NeighborCodes {
    /** Neighbors per block of codes. */
    static final int BLOCK = 32;

    /** The number of coded components is padded to a multiple of this. */
    private static final int PADDED_TO = 16;
    /** Components that share a table lookup. */
    private static final int GROUP = 4;
    /** Table entries per group, one per code of its components. */
    private static final int GROUP_ENTRIES = 16;

    private static final int ROTATIONS = 4;
    private static final int MAX_DIMENSIONS = 4_096;
    private static final float MAX_ENTRY = 255;

    private NeighborCodes() {}

    /** Number of coded components, padding included. */
    public static int length(int dimension) {
        return (dimension + PADDED_TO - 1) / PADDED_TO * PADDED_TO;
    }

    /** The degree in layer 0 of a graph with neighbor codes: {@code min} rounded up to whole blocks. */
    static int degree(int min) {
        return (min + BLOCK - 1) / BLOCK * BLOCK;
    }

    /** Bytes of a block: codes, addends and multipliers. */
    static long blockBytes(int dimension) {
        return (long) length(dimension) * BLOCK / Byte.SIZE + 2L * BLOCK * Float.BYTES;
    }

    /**
     * Applies a fixed pseudorandom rotation to a vector: several rounds of random signs and a Hadamard transform (Ailon and Chazelle,
     * 2006). If the length is not a power of two, rounds transform the beginning and the end alternately, and the two halves are
     * mixed after each round.
     *
     * @param values rotated in place; as many as a {@link #length}
     */
    public static void rotate(float[] values) {
        int length = values.length;
        int part = Integer.highestOneBit(length);
        float scale = (float) (1 / Math.sqrt(part));
        float halfScale = (float) (1 / Math.sqrt(2.0));
        for (int round = 0; round < ROTATIONS; round++) {
            for (int from = 0; from < length; from += Long.SIZE) {
                long signs = signs((long) round * (MAX_DIMENSIONS / Long.SIZE) + from / Long.SIZE);
                for (int i = 0; i < Math.min(Long.SIZE, length - from); i++) {
                    values[from + i] = (signs >>> i & 1) != 0 ? -values[from + i] : values[from + i];
                }
            }
            int begin = round % 2 == 0 ? 0 : length - part;
            transform(values, begin, part);
            for (int i = begin; i < begin + part; i++) {
                values[i] *= scale;
            }
            if (part != length) {
                mixHalves(values, halfScale);
            }
        }
    }

    /** 64 signs of a pseudorandom sequence (Steele et al., SplitMix, OOPSLA 2014). */
    private static long signs(long index) {
        long bits = (index + 1) * 0x9e3779b97f4a7c15L;
        bits = (bits ^ bits >>> 30) * 0xbf58476d1ce4e5b9L;
        bits = (bits ^ bits >>> 27) * 0x94d049bb133111ebL;
        return bits ^ bits >>> 31;
    }

    private static void transform(float[] values, int begin, int length) {
        for (int half = 1; half < length; half *= 2) {
            for (int from = begin; from < begin + length; from += 2 * half) {
                for (int i = from; i < from + half; i++) {
                    float a = values[i];
                    float b = values[i + half];
                    values[i] = a + b;
                    values[i + half] = a - b;
                }
            }
        }
    }

    private static void mixHalves(float[] values, float scale) {
        int half = values.length / 2;
        for (int i = 0; i < half; i++) {
            float a = values[i];
            float b = values[i + half];
            values[i] = (a + b) * scale;
            values[i + half] = (a - b) * scale;
        }
    }

    /** Writes the codes of a node's neighbors, from its list and the rotated vectors of all nodes. Used by one thread. */
    public static final class Writer {
        private final GraphImage image;
        private final MemorySegment rotated;
        private final float[] node;
        private final float[] neighbor;

        /**
         * @param image with vectors and neighbors set
         * @param rotated the vectors of all nodes after {@link #rotate}, {@link #length} floats per node
         */
        public Writer(GraphImage image, MemorySegment rotated) {
            this.image = image;
            this.rotated = rotated;
            this.node = new float[length(image.shape().dimension())];
            this.neighbor = new float[node.length];
        }

        /** Writes a node's blocks. */
        public void write(int number) {
            read(number, node);
            int degree = image.shape().degree();
            byte[] codes = new byte[node.length * BLOCK / Byte.SIZE];
            float[] add = new float[BLOCK];
            float[] multiply = new float[BLOCK];
            for (int block = 0; block < degree / BLOCK; block++) {
                Arrays.fill(codes, (byte) 0);
                Arrays.fill(add, 0);
                Arrays.fill(multiply, 0);
                for (int i = 0; i < BLOCK; i++) {
                    int other = image.neighbor(0, number, block * BLOCK + i);
                    if (other >= 0) {
                        read(other, neighbor);
                        writeOne(i, codes, add, multiply);
                    }
                }
                image.setBlock(number, block, codes, add, multiply);
            }
        }

        private void read(int number, float[] into) {
            long at = (long) number * into.length * Float.BYTES;
            MemorySegment.copy(rotated, GraphImage.FLOAT_ANYWHERE, at, into, 0, into.length);
        }

        private void writeOne(int i, byte[] codes, float[] add, float[] multiply) {
            double squares = 0;
            double sizes = 0;
            double withNode = 0;
            double productWithNode = 0;
            int shift = i < BLOCK / 2 ? 0 : GROUP;
            for (int component = 0; component < node.length; component++) {
                float difference = neighbor[component] - node[component];
                squares += (double) difference * difference;
                sizes += Math.abs(difference);
                productWithNode += (double) difference * node[component];
                if (difference > 0) {
                    withNode += node[component];
                    codes[component / GROUP * GROUP_ENTRIES + i % (BLOCK / 2)] |=
                            (byte) (1 << (component % GROUP + shift));
                } else {
                    withNode -= node[component];
                }
            }
            double factor = sizes > 0 ? squares / sizes : 0;
            boolean innerProduct = image.shape().metric() == Metric.INNER_PRODUCT;
            add[i] = (float) (innerProduct ? factor * withNode - productWithNode : squares + 2 * factor * withNode);
            multiply[i] = (float) (innerProduct ? -factor : -2 * factor);
        }
    }

    /** The lookup table of a query. */
    static final class Query {
        private final byte[] table;
        private final float slope;
        private final float offset;

        /** @param query at least {@code dimension} values */
        Query(float[] query, int dimension) {
            float[] rotated = Arrays.copyOf(Arrays.copyOf(query, dimension), length(dimension));
            rotate(rotated);
            float sizes = 0;
            float widest = 0;
            for (int at = 0; at < rotated.length; at += GROUP) {
                float size = 0;
                for (int i = 0; i < GROUP; i++) {
                    size += Math.abs(rotated[at + i]);
                }
                sizes += size;
                widest = Math.max(widest, size);
            }
            float unit = widest / MAX_ENTRY;
            // If the query is too short for the reciprocal to be finite, all table entries are 0.
            float scale = unit > 0 && 1 / unit <= Float.MAX_VALUE ? 1 / unit : 0;
            this.table = new byte[rotated.length / GROUP * GROUP_ENTRIES];
            for (int at = 0; at < rotated.length; at += GROUP) {
                fill(rotated, at, scale);
            }
            this.slope = 2 * unit;
            this.offset = scale > 0 ? sizes : 0;
        }

        /** Fills a group's entries: per code, the sum of the components whose bit is set, minus the least such sum. */
        private void fill(float[] rotated, int at, float scale) {
            float[] sums = new float[GROUP_ENTRIES];
            for (int i = 0; i < GROUP; i++) {
                sums[0] -= rotated[at + i] < 0 ? rotated[at + i] : 0;
            }
            for (int i = 0; i < GROUP; i++) {
                for (int code = 0; code < 1 << i; code++) {
                    sums[(1 << i) + code] = sums[code] + rotated[at + i];
                }
            }
            for (int code = 0; code < GROUP_ENTRIES; code++) {
                table[at / GROUP * GROUP_ENTRIES + code] = (byte) (int) (sums[code] * scale + .5f);
            }
        }

        /** The estimated distances of a block's neighbors, given the node's distance. */
        float[] estimates(GraphImage image, int node, int block, float distance) {
            byte[] codes = image.blockCodes(node, block);
            float[] estimates = new float[BLOCK];
            for (int i = 0; i < BLOCK; i++) {
                int shift = i < BLOCK / 2 ? 0 : GROUP;
                int sum = 0;
                for (int group = 0; group < table.length; group += GROUP_ENTRIES) {
                    int code = codes[group + i % (BLOCK / 2)] >> shift & GROUP_ENTRIES - 1;
                    sum += Byte.toUnsignedInt(table[group + code]);
                }
                float product = slope * (float) sum - offset;
                estimates[i] = distance + (image.added(node, block, i) + image.multiplier(node, block, i) * product);
            }
            return estimates;
        }
    }
}
