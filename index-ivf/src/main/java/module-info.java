/** IVF tables whose searches run on Roost's workers. */
module io.github.roost.index.ivf {
    requires transitive io.github.roost.vector;
    requires io.github.roost.neighborhash;
    requires org.agrona.core;
    requires org.slf4j;

    exports io.github.roost.index.ivf;

    provides io.github.roost.vector.file.TableFormats with
            io.github.roost.index.ivf.format.IvfFormats;
}
