//! The model as text: its numbers, its test, its predictions.

use weir_model::{FigureErrors, FittedModel, HeldOut, PARAMETERS, Predicted, TrialErrors};

pub(super) fn text(
    path: &str,
    trials: usize,
    model: &FittedModel,
    predictions: &[Predicted],
) -> String {
    let mut lines = vec![format!(
        "Model of {path}: {} of {trials} trials, {} CPU{}",
        model.set.trials.len(),
        model.set.servers,
        if model.set.servers == 1 { "" } else { "s" }
    )];
    lines.extend(
        model
            .set
            .left_out
            .iter()
            .map(|left| format!("  trial {} is left out: {}", left.trial, left.because)),
    );
    lines.push(String::new());
    lines.push("One request, 95 % intervals".to_owned());
    lines.extend(PARAMETERS.iter().filter_map(|(_, words, of)| {
        let found = model.interval(of);
        (found.high > 0.0).then(|| {
            format!(
                "  {words:40} {:>10}   {} to {}",
                time(found.value),
                time(found.low),
                time(found.high)
            )
        })
    }));
    lines.push(String::new());
    lines.extend(tested(model));
    if !predictions.is_empty() {
        lines.push(String::new());
        lines.extend(predicted(model, predictions));
    }
    for disagreement in &model.validation.disagreements {
        lines.push(String::new());
        lines.push(format!("Refused: {}", disagreement.says));
    }
    lines.join("\n")
}

fn tested(model: &FittedModel) -> Vec<String> {
    let validation = &model.validation;
    let mut lines = vec![
        "Each treatment predicted from the others (measured → predicted)".to_owned(),
        format!(
            "  {:>5} {:>6} {:>22}  {:>18}  {:>26}",
            "trial", "users", "requests/s", "CPU %", "response time"
        ),
    ];
    lines.extend(validation.trials.iter().map(trial));
    if validation.trials.iter().any(|trial| trial.hardly_busy) {
        lines.push(
            "  *: hardly busy; a request costs more CPU there than under load, which the model leaves out"
                .to_owned(),
        );
    }
    lines.push(errors("Errors of trials left out", &validation.held_out));
    if let Some(twice) = &validation.at_twice_the_users {
        lines.push(errors("Errors at twice the users and more", twice));
    }
    lines
}

fn trial(trial: &TrialErrors) -> String {
    let (measured, predicted) = (&trial.measured, &trial.held_out);
    let change = |measured: f64, predicted: f64| (predicted / measured - 1.0) * 100.0;
    format!(
        "  {:>5} {:>6} {:>7.1} → {:>7.1} {:>+4.0} %{:>7.1} → {:>5.1} {:>+3.0} %{} {:>8} → {:>8} {:>+4.0} %",
        trial.trial,
        trial.users,
        measured.throughput_per_s,
        predicted.throughput_per_s,
        change(measured.throughput_per_s, predicted.throughput_per_s),
        measured.cpu * 100.0,
        predicted.cpu * 100.0,
        change(measured.cpu, predicted.cpu),
        if trial.hardly_busy { "*" } else { " " },
        time(measured.response_time_s),
        time(predicted.response_time_s),
        change(measured.response_time_s, predicted.response_time_s),
    )
}

fn errors(title: &str, errors: &HeldOut) -> String {
    let figure = |errors: &FigureErrors| {
        if errors.count == 0 {
            "none".to_owned()
        } else {
            format!(
                "{:.1} % (worst {:.1} %)",
                errors.mean * 100.0,
                errors.worst * 100.0
            )
        }
    };
    format!(
        "{title}: throughput {}, CPU {}, response time {}",
        figure(&errors.throughput),
        figure(&errors.cpu),
        figure(&errors.response_time)
    )
}

fn predicted(model: &FittedModel, predictions: &[Predicted]) -> Vec<String> {
    let mut lines = vec!["Predictions, 95 % intervals for a new trial".to_owned()];
    for predicted in predictions {
        let (value, low, high) = (&predicted.figures, &predicted.low, &predicted.high);
        let far = if predicted.beyond > 1.0 {
            format!(
                " ({:.1} times the users that were measured)",
                predicted.beyond
            )
        } else {
            String::new()
        };
        lines.push(format!("  {}{far}", predicted.question));
        lines.push(format!(
            "    {:.1} requests/s ({:.1} to {:.1}), CPU {:.0} % ({:.0} to {:.0}), response time {} ({} to {})",
            value.throughput_per_s,
            low.throughput_per_s,
            high.throughput_per_s,
            value.cpu * 100.0,
            low.cpu * 100.0,
            high.cpu * 100.0,
            time(value.response_time_s),
            time(low.response_time_s),
            time(high.response_time_s)
        ));
        let stages = format!(
            "    {:.1} threads busy, {:.1} requests in front of them",
            value.threads_busy, value.queued
        );
        let pool = model.set.pool.as_ref().map_or(String::new(), |pool| {
            format!(
                ", {:.1} connections of {pool} in use, {:.1} threads waiting for one",
                value.pool_busy, value.pool_waiting
            )
        });
        lines.push(stages + &pool);
    }
    lines
}

/// A time in the unit that suits it.
pub(super) fn time(seconds: f64) -> String {
    if seconds >= 1.0 {
        format!("{seconds:.2} s")
    } else if seconds >= 1e-3 {
        format!("{:.1} ms", seconds * 1e3)
    } else {
        format!("{:.0} us", seconds * 1e6)
    }
}
