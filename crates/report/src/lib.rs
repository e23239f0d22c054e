//! Text, HTML, Markdown from stored runs.
