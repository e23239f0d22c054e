//! Elements that give users their variables, iteration by iteration.

use weir_plan::{Counter, CsvDataSet, IterationElement, RandomVariable, UserParameters};

use crate::element::Element;

/// An element of this class that advances with iterations; `None` if it is none.
///
/// User Parameters are one only if they say so; else they run before each sample.
pub(crate) fn read(element: &Element<'_>) -> Option<IterationElement> {
    Some(match element.class() {
        "CSVDataSet" => IterationElement::CsvDataSet(Box::new(csv_data_set(element))),
        "CounterConfig" => IterationElement::Counter(Box::new(counter(element))),
        "RandomVariableConfig" => {
            IterationElement::RandomVariable(Box::new(random_variable(element)))
        }
        "UserParameters" if is_per_iteration(element) => {
            IterationElement::UserParameters(user_parameters(element))
        }
        _ => return None,
    })
}

/// Whether User Parameters change once an iteration rather than with each sample.
pub(crate) fn is_per_iteration(element: &Element<'_>) -> bool {
    element.is("UserParameters.per_iteration")
}

pub(crate) fn user_parameters(element: &Element<'_>) -> UserParameters {
    UserParameters {
        id: element.id(),
        names: element.texts("UserParameters.names"),
        rows: element.rows("UserParameters.thread_values"),
    }
}

fn csv_data_set(element: &Element<'_>) -> CsvDataSet {
    CsvDataSet {
        id: element.id(),
        file: element.text_or_empty("filename"),
        encoding: element.text_or_empty("fileEncoding"),
        names: element.text_or_empty("variableNames"),
        ignore_first_line: element.is("ignoreFirstLine"),
        delimiter: element.text_or_empty("delimiter"),
        quoted: element.is("quotedData"),
        recycle: element.text_or("recycle", "false"),
        stop_user: element.text_or("stopThread", "false"),
        share: element.text_or("shareMode", "shareMode.all"),
        at: element.at(),
    }
}

fn counter(element: &Element<'_>) -> Counter {
    Counter {
        id: element.id(),
        start: element.text_or_empty("CounterConfig.start"),
        end: element.text_or_empty("CounterConfig.end"),
        step: element.text_or_empty("CounterConfig.incr"),
        format: element.text_or_empty("CounterConfig.format"),
        variable: element.text_or_empty("CounterConfig.name"),
        per_user: element.is("CounterConfig.per_user"),
        reset_on_group_iteration: element.is("CounterConfig.reset_on_tg_iteration"),
    }
}

fn random_variable(element: &Element<'_>) -> RandomVariable {
    RandomVariable {
        id: element.id(),
        variable: element.text_or_empty("variableName"),
        minimum: element.text_or_empty("minimumValue"),
        maximum: element.text_or_empty("maximumValue"),
        format: element.text_or_empty("outputFormat"),
        seed: element.text_or_empty("randomSeed"),
        per_user: element.text_or("perThread", "false"),
    }
}
