// Threads that serve a request and have a host looked up, of a resolver that never answers: three the same one, one
// another. Needs port 53 of the loopback address.
//
// Prints "ready" and its process id, and ends when its standard input does.

import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;

public class Lookup {
    /** Stands in the stack of a thread that serves a request. */
    static final class Servlet {
        static void service(String host) {
            try {
                InetAddress.getByName(host);
            } catch (UnknownHostException unknown) {
                System.err.println(unknown);
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        var silent = new DatagramSocket(new InetSocketAddress("127.0.0.1", 53));
        for (String host : new String[] {"one.invalid", "one.invalid", "one.invalid", "other.invalid"}) {
            var thread = new Thread(() -> Servlet.service(host));
            thread.setDaemon(true);
            thread.start();
        }
        // Each has sent its question, or waits for who has.
        Thread.sleep(2000);
        System.out.println("ready " + ProcessHandle.current().pid());
        while (System.in.read() >= 0) {
            // Until it ends.
        }
        silent.close();
    }
}
