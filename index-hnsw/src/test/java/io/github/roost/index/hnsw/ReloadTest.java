package io.github.roost.index.hnsw;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.roost.core.Orchestrator;
import io.github.roost.testkit.ChildJvm;
import io.github.roost.testkit.MadeUp;
import java.io.File;
import java.lang.ref.WeakReference;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** An application server that reloads an application drops the class loader of Roost, and with it everything that Roost has allocated. */
@Tag("program")
class ReloadTest {
    @Test
    void aClassLoaderThatIsDroppedIsCollected() throws Exception {
        // The JDK refers softly to the last method type of a record's equals, which names a class of the application.
        List<String> lines = new ChildJvm(Server.class)
                .with("-XX:SoftRefLRUPolicyMSPerMB=0", "-Xmx512m")
                .run();
        assertThat(lines).contains("found 5", "collected 3");
    }

    /** Loads, uses and drops the application three times. */
    static final class Server {
        private Server() {}

        public static void main(String[] args) throws Exception {
            List<WeakReference<ClassLoader>> dropped = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                dropped.add(useOnce());
            }
            // The test gives up on a JVM that never ends.
            while (dropped.stream().anyMatch(loader -> loader.get() != null)) {
                System.gc();
                Thread.sleep(20);
            }
            System.out.println("collected " + dropped.size());
        }

        private static WeakReference<ClassLoader> useOnce() throws Exception {
            List<URL> path = new ArrayList<>();
            for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
                path.add(url(entry));
            }
            try (URLClassLoader loader =
                    new URLClassLoader(path.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
                Thread.currentThread().setContextClassLoader(loader);
                Class<?> application = loader.loadClass(Application.class.getName());
                assertThat(application).isNotEqualTo(Application.class);
                ((Runnable) application.getConstructor().newInstance()).run();
                return new WeakReference<>(loader);
            } finally {
                Thread.currentThread().setContextClassLoader(ClassLoader.getSystemClassLoader());
            }
        }

        private static URL url(String entry) throws MalformedURLException {
            return Path.of(entry).toUri().toURL();
        }
    }

    /** Searches a table. */
    public static final class Application implements Runnable {
        @Override
        public void run() {
            float[][] rows = MadeUp.gaussian(500, 24, new Random(1));
            try (Orchestrator orchestrator = Orchestrator.builder().build();
                    HnswTable table = HnswTable.builder().build(orchestrator, rows)) {
                System.out.println("found " + table.search(rows[5], 1).join().ids()[0]);
            }
        }
    }
}
