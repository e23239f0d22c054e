// A JVM to be watched: two MBeans named as Tomcat names its connectors, and a pool whose contents are a text.
//
// Prints "ready" and its process id, and ends when its standard input does.

import java.lang.management.ManagementFactory;
import javax.management.ObjectName;

public class Watched {
    public interface ConnectorMBean {
        int getMaxThreads();

        void setMaxThreads(int maxThreads);

        int getCurrentThreadsBusy();

        long getConnectionCount();
    }

    public static final class Connector implements ConnectorMBean {
        private volatile int maxThreads = 50;

        @Override
        public int getMaxThreads() {
            return maxThreads;
        }

        @Override
        public void setMaxThreads(int maxThreads) {
            this.maxThreads = maxThreads;
        }

        @Override
        public int getCurrentThreadsBusy() {
            return 25;
        }

        @Override
        public long getConnectionCount() {
            return 26;
        }
    }

    public interface PoolMBean {
        String showPoolContents();

        int add(int first, int second);
    }

    public static final class Pool implements PoolMBean {
        @Override
        public String showPoolContents() {
            return "PoolManager@1a2b\nname=WebSphere\nmaxPoolSize=10\nsize=10\nwaiting=15\nunshared=0\nshared=10\navailable=0\n";
        }

        @Override
        public int add(int first, int second) {
            return first + second;
        }
    }

    public static void main(String[] arguments) throws Exception {
        var server = ManagementFactory.getPlatformMBeanServer();
        for (String port : new String[] {"8080", "8081"}) {
            var name = "Catalina:type=ThreadPool,name=\"http-nio-127.0.0.1-" + port + "\"";
            server.registerMBean(new Connector(), new ObjectName(name));
        }
        server.registerMBean(new Pool(), new ObjectName("WebSphere:type=Pool,name=dataSource[db]/connectionManager[default-0]"));
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
        System.out.println("ready " + ProcessHandle.current().pid());
        while (System.in.read() >= 0) {
            // Until the one who started it is gone.
        }
    }
}
