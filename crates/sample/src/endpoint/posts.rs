//! `/posts`: one page of a board, read from the database through the pool.

use serde::Serialize;

use super::Application;
use crate::database::{self, BOARDS, Page, Post};
use crate::http::{Number, Parameters, Response};

const BOARD: Number = Number {
    name: "board",
    unit: "number of the board",
    range: 1..=BOARDS as u64,
    default: 2,
};
const SIZE: Number = Number {
    name: "size",
    unit: "posts",
    range: 1..=1_000,
    default: 10,
};
const PAGE: Number = Number {
    name: "page",
    unit: "number of the page",
    range: 1..=1_000_000,
    default: 1,
};

/// The answer.
#[derive(Serialize)]
struct Listing {
    board: u64,
    page: u64,
    posts: Vec<Post>,
}

pub(super) fn answer(
    application: &Application<'_>,
    parameters: &Parameters,
) -> Result<Response, Response> {
    parameters.expect_only(&[BOARD.name, SIZE.name, PAGE.name])?;
    let board = parameters.number(&BOARD)?;
    let page = Page {
        board,
        size: parameters.number(&SIZE)?,
        number: parameters.number(&PAGE)?,
    };

    let posts = {
        let connection = application.pool.acquire();
        application
            .statements
            .run(|| database::page(&connection, page))
    };
    match posts {
        Ok(posts) => Ok(Response::json(&Listing {
            board,
            page: page.number,
            posts,
        })),
        Err(error) => Err(Response::refusal(
            500,
            format!("failed to read the posts: {error}"),
        )),
    }
}
