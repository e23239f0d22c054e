package weir.regulator;

import java.lang.management.ManagementFactory;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import weir.regulator.pause.Target;

/** A regulator in JMX, from its registration until it is closed. */
public final class RegulatorBean implements RegulatorMXBean, AutoCloseable {
    private final Regulator regulator;
    private final ObjectName name;

    private RegulatorBean(Regulator regulator, ObjectName name) {
        this.regulator = regulator;
        this.name = name;
    }

    /**
     * Registers a regulator.
     *
     * @param name what tells it from others in the same virtual machine, such as the application's context path
     */
    public static RegulatorBean register(Regulator regulator, String name) {
        try {
            ObjectName objectName = free(name);
            RegulatorBean bean = new RegulatorBean(regulator, objectName);
            server().registerMBean(bean, objectName);
            return bean;
        } catch (JMException e) {
            throw new IllegalStateException("failed to register the regulator " + name + " in JMX: " + e, e);
        }
    }

    /** The name, with a number behind it if another application has it already. */
    private static ObjectName free(String name) throws JMException {
        ObjectName objectName = objectName(name);
        for (int number = 2; server().isRegistered(objectName); number++) {
            objectName = objectName(name + "-" + number);
        }
        return objectName;
    }

    private static ObjectName objectName(String name) throws JMException {
        return new ObjectName("weir.regulator:type=Regulator,name=" + ObjectName.quote(name));
    }

    private static MBeanServer server() {
        return ManagementFactory.getPlatformMBeanServer();
    }

    @Override
    public void close() {
        try {
            server().unregisterMBean(name);
        } catch (InstanceNotFoundException e) {
            // Somebody else has taken it out: what was wanted is so.
        } catch (JMException e) {
            throw new IllegalStateException("failed to take " + name + " out of JMX: " + e, e);
        }
    }

    @Override
    public boolean isOn() {
        return regulator.isOn();
    }

    @Override
    public void setOn(boolean on) {
        set("on", Boolean.toString(on));
    }

    @Override
    public Map<String, String> getSettings() {
        return regulator.settings().values();
    }

    @Override
    public Map<String, String> getPromises() {
        Map<String, String> promises = new LinkedHashMap<>();
        Regime regime = regulator.regime();
        for (int index = 0; index < regime.settings.classes().size(); index++) {
            Target.State state = regulator.promises().state(regime, index);
            if (state != null) {
                promises.put(regime.settings.classes().get(index).name, state.name());
            }
        }
        return promises;
    }

    @Override
    public Map<String, Double> getMetrics() {
        Map<String, Double> values = new TreeMap<>();
        for (Metric metric : regulator.metrics()) {
            values.put(metric.toString(), metric.value());
        }
        return values;
    }

    @Override
    public void set(String setting, String value) {
        try {
            regulator.set(setting, value);
        } catch (SettingsException e) {
            // Whoever asks from another virtual machine has no class of this name and would not be told what is wrong.
            throw new IllegalArgumentException(e.getMessage());
        }
    }

    @Override
    public void unset(String setting) {
        set(setting, null);
    }
}
