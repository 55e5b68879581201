package io.github.roost.index.disk.format;

import java.util.Random;

/** A table of many rows, of which only the first ones have pages, and edges between them; the others have codes alone. */
public final class LargeTable {
    private LargeTable() {}

    /** The id of a row without a page. */
    public static long id(int node) {
        return -1L - node;
    }

    /**
     * A table with all rows of a built one, in the same file, where it is not written.
     *
     * @param nodes number of its nodes, all live
     */
    public static DiskGraph of(DiskGraph built, int nodes) {
        DiskLayout layout = built.layout();
        ProductCodes codes = new ProductCodes(layout);
        codes.centroids().copyFrom(built.codes().centroids());
        codes.grow(nodes);
        Random random = new Random(7);
        byte[] code = new byte[layout.codeBytes()];
        // So that new nodes get pages of their own.
        int begin = layout.pages(built.codes().nodes()) * layout.nodesPerPage();
        for (int node = 0; node < nodes; node++) {
            if (node < built.codes().nodes()) {
                built.codes().read(node, code);
                codes.put(node, built.codes().id(node), code, ProductCodes.LIVE);
            } else if (node >= begin) {
                random.nextBytes(code);
                codes.put(node, id(node), code, ProductCodes.LIVE);
            }
        }
        BlockMap map = new BlockMap();
        for (int page = 0; page < layout.pages(built.codes().nodes()); page++) {
            map.setPage(page, built.block(page));
        }
        Superblock root = built.root();
        return new DiskGraph(
                built.file(),
                new Superblock(
                        root.sequence(),
                        false,
                        root.tableId(),
                        layout,
                        root.metric(),
                        nodes,
                        root.entry(),
                        root.mapBlock(),
                        root.mapChecksum(),
                        root.centroidBlock(),
                        root.centroidChecksum(),
                        root.errors()),
                codes,
                map);
    }
}
