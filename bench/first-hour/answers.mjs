// A server that Weir does not know, with one thread: `/cpu` computes, `/pause` sleeps, `/lock` waits for what one request at a
// time may do, `/store` makes blocks durable, `/work?away=N` asks the server at the second argument, which takes N milliseconds.
//
//   node answers.mjs PORT [ORIGIN]

import http from "node:http";
import fs from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";

const [port, origin] = process.argv.slice(2);
const agent = new http.Agent({ keepAlive: true });
let turn = Promise.resolve();

function compute() {
  let value = 1;
  for (let step = 0; step < 300_000; step++) {
    value = (value * 48271) % 2147483647;
  }
  return value;
}

function inTurn(work) {
  turn = turn.then(work);
  return turn;
}

async function store() {
  const file = await fs.open(`stored-${port}`, "w");
  for (let block = 0; block < 8; block++) {
    await file.write(Buffer.alloc(4096), 0, 4096, block * 4096);
    await file.datasync();
  }
  await file.close();
}

function ask(milliseconds) {
  return new Promise((resolve, reject) => {
    http
      .get(`${origin}/work?pause=${milliseconds}`, { agent }, (answer) => {
        answer.resume();
        answer.on("end", resolve);
      })
      .on("error", reject);
  });
}

async function work(path, query) {
  switch (path) {
    case "/cpu":
      return compute();
    case "/pause":
      return pause(50);
    case "/lock":
      return inTurn(() => pause(8));
    case "/store":
      return store();
    case "/work":
      return query.has("away") ? ask(query.get("away")) : compute();
    default:
      return "";
  }
}

const server = http.createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url, "http://localhost");
  await work(pathname, searchParams);
  response.end("done\n");
});
server.listen(Number(port), "127.0.0.1", 511);
