package io.github.roost.lucene;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class DocumentsByIdTest {
    @Test
    void mapsAsAHashMapDoes() {
        DocumentsById documents = new DocumentsById();
        Map<Long, Integer> expected = new HashMap<>();
        Random random = new Random(1);
        for (int i = 0; i < 100_000; i++) {
            // Neighbors, all longs, and multiples of a power of two.
            long id = switch (i % 3) {
                case 0 -> random.nextInt(10_000);
                case 1 -> random.nextLong();
                default -> (long) random.nextInt(1_000) << 50;
            };
            Integer before = expected.put(id, i);
            assertThat(documents.put(id, i)).isEqualTo(before == null ? DocumentsById.NONE : before);
        }
        expected.forEach((id, document) -> assertThat(documents.get(id)).isEqualTo(document));
        assertThat(documents.get(20_000)).isEqualTo(DocumentsById.NONE);
    }
}
