package io.github.roost.rows.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.MethodDescriptor;
import io.grpc.StatusRuntimeException;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OrderWireTest {
    private static final MethodDescriptor.Marshaller<OrderWire.Report> REPORTS =
            OrderWire.ORDER.getResponseMarshaller();

    private static OrderWire.Report report(long bytes) {
        ServerView view = new ServerView("a", 1, Map.of(7L, RollingUpdate.shardsAt(1, 0, 2)));
        return new OrderWire.Report(view, RowsServer.Seat.whole(0), 3, Map.of(7L, bytes));
    }

    @Test
    void aReportArrivesAsItWasSent() {
        assertThat(REPORTS.parse(REPORTS.stream(report(1L << 50)))).isEqualTo(report(1L << 50));
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, Long.MIN_VALUE, (1L << 50) + 1, Long.MAX_VALUE})
    void aSizeThatNoServerHasIsRefused(long bytes) {
        // The number of shards of the next version would follow from it.
        assertThatThrownBy(() -> REPORTS.parse(REPORTS.stream(report(bytes))))
                .isInstanceOf(StatusRuntimeException.class)
                .hasMessageContaining("bytes of version 7 must be between 0 and 1125899906842624, got " + bytes);
    }
}
