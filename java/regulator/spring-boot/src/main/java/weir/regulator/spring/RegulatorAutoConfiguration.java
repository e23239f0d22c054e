package weir.regulator.spring;

import io.micrometer.core.instrument.MeterRegistry;
import jakarta.servlet.DispatcherType;
import java.util.Map;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;
import org.springframework.core.task.TaskDecorator;
import weir.regulator.Regulator;
import weir.regulator.Settings;
import weir.regulator.Work;
import weir.regulator.micrometer.RegulatorMetrics;
import weir.regulator.servlet.RegulatorFilter;

/**
 * Puts the regulator before all other filters of a servlet application, with the settings of {@code weir.regulator.*}. Beans of
 * the application's own go before these.
 */
@AutoConfiguration
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnProperty(prefix = RegulatorSettings.PREFIX, name = "enabled", matchIfMissing = true)
public class RegulatorAutoConfiguration {
    /** The one that checkpoints use. */
    @Bean
    @ConditionalOnMissingBean
    Regulator regulator() {
        return Regulator.shared();
    }

    /** Every request passes it, also when asynchronous work hands it back. */
    @Bean
    @ConditionalOnMissingBean(name = "regulatorFilter")
    FilterRegistrationBean<RegulatorFilter> regulatorFilter(Regulator regulator, Environment environment) {
        FilterRegistrationBean<RegulatorFilter> filter = new FilterRegistrationBean<>(new RegulatorFilter(regulator));
        filter.setOrder(Ordered.HIGHEST_PRECEDENCE);
        filter.setDispatcherTypes(DispatcherType.REQUEST, DispatcherType.ASYNC);
        Map<String, String> settings = RegulatorSettings.of(environment);
        if (!settings.isEmpty()) {
            // What makes no sense is told here: of a filter that does not begin the container says only that.
            Settings.of(settings, System.getProperties());
        }
        filter.setInitParameters(settings);
        return filter;
    }

    /** Tasks take the work of their request along, where that is wanted. */
    @Bean
    @ConditionalOnProperty(prefix = RegulatorSettings.PREFIX, name = "wrap-tasks", havingValue = "true")
    TaskDecorator requestsTakeTheirWorkAlong() {
        return Work::wrap;
    }

    /** Meters, where the application has any. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(MeterRegistry.class)
    static class Meters {
        @Bean
        @ConditionalOnMissingBean
        RegulatorMetrics regulatorMetrics(Regulator regulator) {
            return new RegulatorMetrics(regulator);
        }
    }

    /** Health and info, where the application shows any. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(HealthIndicator.class)
    static class Shown {
        @Bean
        @ConditionalOnMissingBean(name = "regulatorHealthIndicator")
        RegulatorHealth regulatorHealthIndicator(Regulator regulator) {
            return new RegulatorHealth(regulator);
        }
    }
}
