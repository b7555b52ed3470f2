/** Watches: changes as they happen, each once and in order. A later watch continues where another has stopped. */

import { connect } from "./connect.mjs";

const client = connect();

const watch = await client.watch.keys("default", { prefix: "example-watch/", includePrevious: true });
/** @param {string} count */
const put = (count) => client.keyValue.put("default", "example-watch/count", count);
await put("one");
await put("two");

const text = new TextDecoder();
let seen = 0;
let resume = 0;
for await (const { events, revision } of watch) {
  for (const { type, kv, previous } of events) {
    const before = previous === undefined ? "nothing" : text.decode(previous.value);
    console.log(`${type} ${kv.key}: ${text.decode(kv.value)}, before: ${before}`);
  }
  seen += events.length;
  // Everything up to here has been processed: another process would continue from this revision.
  resume = revision + 1;
  if (seen === 2) {
    break;
  }
}

// There is no watch now, and nothing is lost.
await put("three");
await client.keyValue.delete("default", "example-watch/count");
const rest = await client.watch.keys("default", { prefix: "example-watch/", startRevision: resume });
for await (const { events } of rest) {
  for (const { type, kv } of events) {
    console.log(`later: ${type} ${text.decode(kv.value)}`);
  }
  seen += events.length;
  if (seen === 4) {
    break;
  }
}
client.close();
