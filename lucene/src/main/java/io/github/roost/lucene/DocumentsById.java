package io.github.roost.lucene;

import java.util.Arrays;

/** Map from ids to numbers of documents: open addressing, at most half full. Thread-safe once it is filled. */
final class DocumentsById {
    static final int NONE = -1;
    /** The golden ratio's bits: neighboring ids are spread over the whole table. */
    private static final long SPREAD = 0x9E3779B97F4A7C15L;

    private long[] ids = new long[16];
    private int[] documents = none(ids.length);
    private int size;

    private static int[] none(int length) {
        int[] documents = new int[length];
        Arrays.fill(documents, NONE);
        return documents;
    }

    /** Returns the document that the id had before, or {@link #NONE}. */
    int put(long id, int document) {
        if (size == ids.length / 2) {
            grow();
        }
        int place = place(id);
        int before = documents[place];
        ids[place] = id;
        documents[place] = document;
        size += before == NONE ? 1 : 0;
        return before;
    }

    /** The document of an id, or {@link #NONE}. */
    int get(long id) {
        return documents[place(id)];
    }

    /** The place of an id, or the free one at which it would be put. */
    private int place(long id) {
        int mask = ids.length - 1;
        int place = (int) ((id * SPREAD) >>> (Long.SIZE - Integer.bitCount(mask)));
        while (documents[place] != NONE && ids[place] != id) {
            place = (place + 1) & mask;
        }
        return place;
    }

    private void grow() {
        long[] oldIds = ids;
        int[] oldDocuments = documents;
        ids = new long[Math.multiplyExact(2, oldIds.length)];
        documents = none(ids.length);
        for (int i = 0; i < oldIds.length; i++) {
            if (oldDocuments[i] != NONE) {
                int place = place(oldIds[i]);
                ids[place] = oldIds[i];
                documents[place] = oldDocuments[i];
            }
        }
    }
}
