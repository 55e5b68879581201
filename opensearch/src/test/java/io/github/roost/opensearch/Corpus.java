package io.github.roost.opensearch;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/** Documents with a vector, a word and a number each, and what is nearest to what in truth. Immutable. */
final class Corpus {
    private static final String[] WORDS = {"owl", "crow", "wren", "finch", "heron"};

    private final float[][] vectors;

    Corpus(int size, int dimension, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        this.vectors = new float[size][dimension];
        for (float[] vector : vectors) {
            for (int i = 0; i < dimension; i++) {
                // Whole numbers within a byte: the same vectors serve fields of bytes.
                vector[i] = random.nextInt(-100, 101);
            }
        }
    }

    int size() {
        return vectors.length;
    }

    float[] vector(int id) {
        return vectors[id];
    }

    static String word(int id) {
        return WORDS[id % WORDS.length];
    }

    /** The document, its vector under both names. */
    String document(int id) {
        String vector = Arrays.toString(vectors[id]);
        return "{\"v\":" + vector + ",\"b\":" + vector + ",\"l\":" + vector + ",\"word\":\"" + word(id)
                + "\",\"number\":" + id + "}";
    }

    /** A vector as JSON: the base64 of its little-endian floats. */
    static String base64(float[] vector) {
        ByteBuffer bytes = ByteBuffer.allocate(Float.BYTES * vector.length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asFloatBuffer().put(vector);
        return '"' + Base64.getEncoder().encodeToString(bytes.array()) + '"';
    }

    /** A bulk request for the documents from one id to another. */
    String bulk(int from, int to) {
        StringBuilder bulk = new StringBuilder();
        for (int id = from; id < to; id++) {
            bulk.append("{\"index\":{\"_id\":\"")
                    .append(id)
                    .append("\"}}\n")
                    .append(document(id))
                    .append('\n');
        }
        return bulk.toString();
    }

    /** Ids of the k nearest by squared distance among those that a filter takes, nearest first, ties by id. */
    List<String> nearest(float[] query, int k, IntPredicate filter) {
        List<Integer> ids = new ArrayList<>(
                IntStream.range(0, vectors.length).filter(filter).boxed().toList());
        double[] distances = Arrays.stream(vectors)
                .mapToDouble(vector -> squaredDistance(query, vector))
                .toArray();
        ids.sort(Comparator.<Integer>comparingDouble(id -> distances[id]).thenComparing(Comparator.naturalOrder()));
        return Collections.unmodifiableList(
                ids.stream().limit(k).map(Object::toString).toList());
    }

    static double squaredDistance(float[] a, float[] b) {
        double sum = 0;
        for (int i = 0; i < a.length; i++) {
            sum += ((double) a[i] - b[i]) * ((double) a[i] - b[i]);
        }
        return sum;
    }
}
