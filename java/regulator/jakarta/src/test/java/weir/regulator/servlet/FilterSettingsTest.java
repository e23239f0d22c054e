package weir.regulator.servlet;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import jakarta.servlet.FilterConfig;
import jakarta.servlet.ServletContext;
import java.lang.reflect.Proxy;
import java.util.Collections;
import java.util.Map;
import org.junit.jupiter.api.Test;
import weir.regulator.Regulator;
import weir.regulator.Settings;
import weir.regulator.Time;

/** What a filter's parameters set, and for how long. */
class FilterSettingsTest {
    private final Regulator regulator = new Regulator(Settings.OFF, Time.ofMachine());

    @Test
    void settingsEndWithTheFilter() {
        RegulatorFilter filter = filter("/one");
        assertTrue(regulator.isOn());
        filter.destroy();
        assertFalse(regulator.isOn());
        assertSame(Settings.OFF, regulator.settings());
    }

    @Test
    void theLastThatIsStillThereIsHeld() {
        RegulatorFilter first = filter("/first");
        Settings ofFirst = regulator.settings();
        RegulatorFilter second = filter("/second");
        Settings ofSecond = regulator.settings();
        second.destroy();
        assertSame(ofFirst, regulator.settings());
        RegulatorFilter third = filter("/third");
        first.destroy();
        assertNotSame(ofSecond, regulator.settings());
        third.destroy();
        // The first has gone meanwhile: its settings do not come back.
        assertSame(Settings.OFF, regulator.settings());
    }

    @Test
    void whatSomebodyElseHasAppliedStays() {
        RegulatorFilter filter = filter("/one");
        Settings others = Settings.of(Map.of("class.other.urls", "/other", "class.other.concurrency", "2"));
        regulator.apply(others);
        filter.destroy();
        assertSame(others, regulator.settings());
    }

    private RegulatorFilter filter(String url) {
        RegulatorFilter filter = new RegulatorFilter(regulator);
        filter.init(config(Map.of("class.heavy.urls", url, "class.heavy.concurrency", "3"), url));
        return filter;
    }

    private static FilterConfig config(Map<String, String> parameters, String path) {
        ServletContext context = answering(ServletContext.class, (name, argument) -> path);
        return answering(FilterConfig.class, (name, argument) -> {
            switch (name) {
                case "getInitParameterNames":
                    return Collections.enumeration(parameters.keySet());
                case "getInitParameter":
                    return parameters.get(argument);
                default:
                    return context;
            }
        });
    }

    private interface Answer {
        Object to(String method, Object argument);
    }

    private static <T> T answering(Class<T> type, Answer answer) {
        Object made = Proxy.newProxyInstance(
                type.getClassLoader(),
                new Class<?>[] {type},
                (proxy, method, arguments) -> answer.to(method.getName(), arguments == null ? null : arguments[0]));
        return type.cast(made);
    }
}
