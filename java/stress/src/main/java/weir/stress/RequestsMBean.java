package weir.stress;

/** The requests of the application as it sees them. Totals count since the application started. */
public interface RequestsMBean {
    /** Requests that run now: threads that are busy with this application. */
    long getBusy();

    /** Integral of the number running over time. */
    double getBusySeconds();

    /** Requests answered, whatever the answer was. */
    long getCompleted();

    /** Those of them that were answered with a status from 400 on. */
    long getRefused();
}
