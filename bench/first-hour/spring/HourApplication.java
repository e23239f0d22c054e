package weir.hour;

import javax.sql.DataSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.annotation.Bean;

/** The same requests in a Spring Boot application, with its own pool. */
@SpringBootApplication
public class HourApplication {
    public static void main(String[] arguments) {
        SpringApplication.run(HourApplication.class, arguments);
    }

    @Bean
    ServletRegistrationBean<HourServlet> work(DataSource pool) {
        return new ServletRegistrationBean<>(new HourServlet(pool), "/work");
    }
}
