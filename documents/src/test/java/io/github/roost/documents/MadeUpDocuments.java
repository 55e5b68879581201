package io.github.roost.documents;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.UUID;

/** Documents that follow from a number, with metadata of all types. */
final class MadeUpDocuments {
    static final int DIMENSION = 16;

    private MadeUpDocuments() {}

    static Document document(String id, int version) {
        Random random = new Random(new SplittableRandom(((long) id.hashCode() << Integer.SIZE) + version).nextLong());
        return new Document(
                id,
                random.nextInt(5) == 0 ? null : "text " + id + " of " + version,
                metadata(random, version),
                vector(random));
    }

    static float[] vector(Random random) {
        float[] vector = new float[DIMENSION];
        for (int i = 0; i < DIMENSION; i++) {
            vector[i] = (float) random.nextGaussian();
        }
        return vector;
    }

    private static Map<String, Object> metadata(Random random, int version) {
        Map<String, Object> metadata = new HashMap<>();
        metadata.put("version", version);
        for (String name : List.of("a", "b", "c")) {
            if (random.nextInt(4) != 0) {
                metadata.put(name, random.nextInt(5) == 0 ? List.of(value(random), value(random)) : value(random));
            }
        }
        return metadata;
    }

    static Object value(Random random) {
        int few = random.nextInt(-3, 4);
        return switch (random.nextInt(7)) {
            case 0 -> "text " + few;
            case 1 -> random.nextBoolean();
            case 2 -> few;
            case 3 -> (long) few;
            case 4 -> few / 2f;
            case 5 -> few / 2d;
            default -> new UUID(0, few);
        };
    }
}
