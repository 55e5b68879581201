package io.github.roost.index.hnsw.walk;

import io.github.roost.core.Metric;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Codes of a node's neighbours, one bit per component, that lie beside the node (Gao and Long, RaBitQ, SIGMOD 2024; Gou et al.,
 * SymphonyQG, SIGMOD 2025). With c the node's vector, x a neighbour's, r = x - c and s the signs of r after a random rotation R,
 * the product of r and any y is about f s·Ry with f = |r|² / Σ|Rr|. So the squared distance of x from a query q,
 * |q - c|² + |r|² - 2 r·(q - c), is about that of c plus |r|² + 2 f s·Rc, which lies beside the code, minus 2 f s·Rq; and of the
 * negated inner product the halves without |r|², less r·c. The s·Rq of 32 neighbours are summed from a table of bytes
 * (André et al., FastScan, VLDB 2015), which a query fills once.
 *
 * <p>Does what neighbor_codes.c and estimate_body.h do, step by step, so that both get the same bits. Stateless.
 */
public final class NeighborCodes {
    /** Neighbours whose codes lie together. */
    static final int BLOCK = 32;

    /** Components are coded up to a multiple of this. */
    private static final int PADDED_TO = 16;
    /** Components that share an entry of a table. */
    private static final int GROUP = 4;
    /** Entries of a group: one for each code of its components. */
    private static final int GROUP_ENTRIES = 16;

    private static final int ROTATIONS = 4;
    private static final int MAX_DIMENSIONS = 4_096;
    private static final float MAX_ENTRY = 255;

    private NeighborCodes() {}

    /** Components that codes are of, those that pad included. */
    public static int length(int dimension) {
        return (dimension + PADDED_TO - 1) / PADDED_TO * PADDED_TO;
    }

    /** The degree in layer 0 of a graph whose neighbours have codes. */
    static int degree(int least) {
        return (least + BLOCK - 1) / BLOCK * BLOCK;
    }

    /** Bytes of the codes of a block, and of what lies with them. */
    static long blockBytes(int dimension) {
        return (long) length(dimension) * BLOCK / Byte.SIZE + 2L * BLOCK * Float.BYTES;
    }

    /**
     * Rotates a vector at random, always alike: signs, then a Hadamard transform, several times over (Ailon and Chazelle,
     * 2006). Where its length is no power of two the transforms are of its beginning and of its end in turns, and each half
     * is mixed with the other between.
     *
     * @param values of a {@link #length}
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

    /** 64 signs of a random sequence (Steele et al., SplitMix, OOPSLA 2014). */
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

    /** Writes the codes of a node's neighbours, from its list and the rotated vectors of all nodes. Belongs to one thread. */
    public static final class Writer {
        private final GraphImage image;
        private final MemorySegment rotated;
        private final float[] node;
        private final float[] neighbor;

        /**
         * @param image whose vectors and neighbours are there
         * @param rotated every node's vector after {@link #rotate}, floats of {@link #length}, one node after the other
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

    /** A query as it is compared with codes. */
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
            // A query that is too short for floats weighs nothing.
            float scale = unit > 0 && 1 / unit <= Float.MAX_VALUE ? 1 / unit : 0;
            this.table = new byte[rotated.length / GROUP * GROUP_ENTRIES];
            for (int at = 0; at < rotated.length; at += GROUP) {
                fill(rotated, at, scale);
            }
            this.slope = 2 * unit;
            this.offset = scale > 0 ? sizes : 0;
        }

        /** The sums of a group's components whose bit a code has, counted from the least of these. */
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

        /** The distances of a block's neighbours, by that of the node. */
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
