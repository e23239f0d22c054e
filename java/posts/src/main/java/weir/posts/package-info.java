/**
 * A bulletin board as services have it: one page of one board at a time, newest first, from a table with a million rows and an
 * index. The total is not counted for each page, as paging libraries like to do: on a large table that alone would be the
 * load.
 */
package weir.posts;
