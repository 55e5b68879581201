package io.github.roost.bench.stores;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import org.apache.lucene.util.VectorUtil;

/**
 * A table of an embedded database with indexes on the metadata, whose allowed vectors are all compared in Java. A commit is written when it returns;
 * neither database asks the disk to keep it, so a crash of the machine, unlike one of the process, may lose it.
 */
final class ScannedTable implements TextStore {
    private static final String COLUMNS = " varchar not null";

    private final String url;
    private final Connection writer;
    private final ThreadLocal<Connection> readers = ThreadLocal.withInitial(this::connection);
    private final List<Connection> opened = new ArrayList<>();

    private record Near(int number, float product) {}

    private ScannedTable(String url) throws SQLException {
        this.url = url;
        this.writer = connection();
        writer.setAutoCommit(false);
        try (Statement statement = writer.createStatement()) {
            statement.execute("create table if not exists texts (number int primary key, text" + COLUMNS + ", "
                    + StoredText.TENANT + COLUMNS + ", " + StoredText.SOURCE + COLUMNS + ", " + StoredText.PAGE
                    + " int not null, vector varbinary(16384) not null)");
            statement.execute("create index if not exists tenants on texts (" + StoredText.TENANT + ")");
            statement.execute("create index if not exists sources on texts (" + StoredText.SOURCE + ")");
            writer.commit();
        }
    }

    static ScannedTable ofH2(Path folder) throws SQLException {
        return new ScannedTable(
                "jdbc:h2:" + folder.toAbsolutePath().resolve("texts") + ";WRITE_DELAY=0;DB_CLOSE_ON_EXIT=FALSE");
    }

    /** With a log beside the file, so that searches and a change do not wait for each other. */
    static ScannedTable ofSqlite(Path folder) throws SQLException {
        return new ScannedTable("jdbc:sqlite:" + folder.toAbsolutePath().resolve("texts.sqlite")
                + "?journal_mode=WAL&synchronous=NORMAL&busy_timeout=60000");
    }

    private Connection connection() {
        try {
            Connection connection = DriverManager.getConnection(url);
            synchronized (opened) {
                opened.add(connection);
            }
            return connection;
        } catch (SQLException failed) {
            throw new IllegalStateException(failed);
        }
    }

    @Override
    public void add(List<StoredText> added) throws SQLException {
        try (PreparedStatement insert = writer.prepareStatement("insert into texts values (?, ?, ?, ?, ?, ?)")) {
            for (StoredText each : added) {
                ByteBuffer bytes =
                        ByteBuffer.allocate(each.vector().length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
                bytes.asFloatBuffer().put(each.vector());
                insert.setInt(1, each.number());
                insert.setString(2, each.text());
                insert.setString(3, each.tenant());
                insert.setString(4, each.source());
                insert.setInt(5, each.page());
                insert.setBytes(6, bytes.array());
                insert.addBatch();
            }
            insert.executeBatch();
        }
        writer.commit();
    }

    @Override
    public int[] search(float[] vector, int query, Condition condition, int effort) throws SQLException {
        Connection reader = readers.get();
        PriorityQueue<Near> nearest =
                new PriorityQueue<>(K + 1, (one, other) -> Float.compare(one.product, other.product));
        try (PreparedStatement select =
                reader.prepareStatement("select number, vector from texts" + where(condition, query))) {
            // All rows at once would fill the heap.
            select.setFetchSize(1_000);
            float[] row = new float[vector.length];
            try (ResultSet rows = select.executeQuery()) {
                while (rows.next()) {
                    ByteBuffer.wrap(rows.getBytes(2))
                            .order(ByteOrder.LITTLE_ENDIAN)
                            .asFloatBuffer()
                            .get(row);
                    float product = VectorUtil.dotProduct(vector, row);
                    if (nearest.size() < K || product > nearest.element().product) {
                        nearest.add(new Near(rows.getInt(1), product));
                        if (nearest.size() > K) {
                            nearest.remove();
                        }
                    }
                }
            }
        }
        int[] found = nearest.stream().mapToInt(Near::number).toArray();
        for (int number : found) {
            read(reader, number);
        }
        return found;
    }

    private static String where(Condition condition, int query) {
        int value = condition.value(query);
        return switch (condition) {
            case ALL -> "";
            case PAGES -> " where " + StoredText.PAGE + " < " + value;
            case TENANT -> " where " + StoredText.TENANT + " = '" + StoredText.tenant(value) + "'";
            case SOURCE -> " where " + StoredText.SOURCE + " = '" + StoredText.source(value) + "'";
        };
    }

    private static void read(Connection reader, int number) throws SQLException {
        try (PreparedStatement select = reader.prepareStatement("select * from texts where number = ?")) {
            select.setInt(1, number);
            try (ResultSet row = select.executeQuery()) {
                if (!row.next()) {
                    throw new SQLException("text " + number + " must be there");
                }
            }
        }
    }

    @Override
    public int size() throws SQLException {
        try (Statement statement = writer.createStatement();
                ResultSet count = statement.executeQuery("select count(*) from texts")) {
            count.next();
            return count.getInt(1);
        }
    }

    @Override
    public void close() throws SQLException {
        synchronized (opened) {
            for (Connection connection : opened) {
                connection.close();
            }
        }
    }
}
