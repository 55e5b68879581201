/** Tables on disk whose searches run on Roost's workers and park on their reads. */
module io.github.roost.index.disk {
    requires transitive io.github.roost.vector;
    requires transitive io.github.roost.io;
    requires static jdk.incubator.vector;
    requires jdk.jfr;
    requires jvector;
    requires org.slf4j;

    exports io.github.roost.index.disk;
    exports io.github.roost.index.disk.stall;

    provides io.github.roost.vector.file.TableFormats with
            io.github.roost.index.disk.format.DiskFormats;
}
