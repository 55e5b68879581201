package io.github.roost.index.remote.ucx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.roost.index.remote.RemoteMemoryException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class HelloTest {
    private static byte[] said(Hello hello) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        hello.write(bytes);
        return bytes.toByteArray();
    }

    private static Hello read(byte[] bytes) throws IOException {
        return Hello.read("ucx://there:1", new ByteArrayInputStream(bytes));
    }

    private static Hello one(long bytes, long address) {
        return new Hello(bytes, address, new byte[] {1, 2}, new byte[] {3});
    }

    @Test
    void whatIsSaidIsHeard() throws IOException {
        Hello heard = read(said(one(100, 4_096)));
        assertThat(heard.bytes()).isEqualTo(100);
        assertThat(heard.address()).isEqualTo(4_096);
        assertThat(heard.key()).containsExactly(1, 2);
        assertThat(heard.worker()).containsExactly(3);
    }

    @Test
    void everyByteThatIsFlippedAndEveryEndIsNoticed() throws IOException {
        byte[] right = said(one(100, 4_096));
        for (int at = 0; at < right.length; at++) {
            byte[] wrong = right.clone();
            wrong[at] ^= 0x10;
            assertThatThrownBy(() -> read(wrong)).as("byte %d", at).isInstanceOf(RemoteMemoryException.class);
            byte[] shorter = java.util.Arrays.copyOf(right, at);
            assertThatThrownBy(() -> read(shorter))
                    .as("%d bytes", at)
                    .isInstanceOf(RemoteMemoryException.class)
                    .hasMessageContaining("closed the connection");
        }
    }

    @Test
    void sizesThatNoMemoryHasAreRefused() {
        for (Hello wrong :
                new Hello[] {one(0, 4_096), one(-5, 4_096), one(10, 0), one(10, -1), one(10, Long.MAX_VALUE - 9)}) {
            assertThatThrownBy(() -> read(said(wrong)))
                    .isInstanceOf(RemoteMemoryException.class)
                    .hasMessageContaining("got " + wrong.bytes() + " at " + wrong.address());
        }
    }

    @Test
    void aKeyOfAnyLengthIsNotReadInto() throws IOException {
        byte[] bytes = said(one(100, 4_096));
        int lengthAt = Long.BYTES + Integer.BYTES + 2 * Long.BYTES;
        for (int length : new int[] {0, -1, Hello.MAX_BYTES + 1, Integer.MAX_VALUE}) {
            ByteBuffer.wrap(bytes).putInt(lengthAt, length);
            assertThatThrownBy(() -> read(bytes)).hasMessageContaining("of " + length + " bytes, expected 1 to 65536");
        }
    }

    @Test
    void anotherServiceIsToldFromANode() {
        assertThatThrownBy(() -> read("HTTP/1.1 400 Bad Request".getBytes(StandardCharsets.US_ASCII)))
                .hasMessage("ucx://there:1 is not a memory node's address: it says something else");
    }
}
