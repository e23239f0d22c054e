//! Pages of drawings: whole, readable as XML, and with every figure that they were given.

use weir_report::sheet_html;

use crate::common::sheet;

#[test]
fn a_page_holds_what_it_was_given() {
    let html = sheet_html(&sheet()).unwrap();
    for part in [
        "A &#60;model&#62; &#38; its trials",
        "One paragraph.",
        "<title>trial 3</title>",
        "41.50 (40.00 to 43.00)",
        "required",
        "the answer",
        "DIFFERENT",
        "80 %",
        "<li>46 requests die with it</li>",
        "A note.",
        "weir 0",
    ] {
        assert!(html.contains(part), "`{part}` is not in\n{html}");
    }
    assert!(!html.contains("<script"), "the page needs no script");
}

/// The pictures' own places: the point of 10 users of 20 stands in the middle of the field, the
/// interval of the change right of the margin.
#[test]
fn the_pictures_stand_where_the_figures_say() {
    let html = sheet_html(&sheet()).unwrap();
    let pictures: Vec<&str> = html
        .split("<svg")
        .skip(1)
        .map(|rest| rest.split("</svg>").next().unwrap())
        .collect();
    assert_eq!(pictures.len(), 2);
    let parsed: Vec<String> = pictures
        .iter()
        .map(|picture| format!("<svg{picture}</svg>"))
        .collect();
    let drawing = roxmltree::Document::parse(&parsed[0]).unwrap();
    let number = |node: roxmltree::Node<'_, '_>, name: &str| -> f64 {
        node.attribute(name).unwrap().parse().unwrap()
    };
    let of_class = |document: &roxmltree::Document<'_>, class: &str| {
        document
            .descendants()
            .find(|node| node.attribute("class") == Some(class))
            .map(|node| node.id())
            .unwrap()
    };
    let point = drawing.get_node(of_class(&drawing, "point")).unwrap();
    assert!((number(point, "cx") - f64::midpoint(64.0, 622.0)).abs() < 0.1);
    let goal = drawing.get_node(of_class(&drawing, "goal")).unwrap();
    assert!(number(goal, "y1") < number(point, "cy"), "60 is above 41.5");
    let forest = roxmltree::Document::parse(&parsed[1]).unwrap();
    let margin = forest.get_node(of_class(&forest, "margin")).unwrap();
    let interval = forest.get_node(of_class(&forest, "interval")).unwrap();
    let right_of_margin = number(margin, "x") + number(margin, "width");
    assert!(number(interval, "x1") > right_of_margin);
}
