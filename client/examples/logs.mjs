/** Event logs: events that are stored once, however often they are sent, and read and followed in order. */

import { QuoinError } from "@quoin/client";
import { connect } from "./connect.mjs";

const client = connect();
const text = new TextDecoder();

const left = await client.logs.find("example-orders");
if (left !== undefined) {
  await client.logs.delete(left.logId);
}
const { logId } = await client.logs.create("example-orders", { settings: { retentionMaxBytes: 1_000_000 } });

// The key identifies the event: a repetition gets the same answer, and the event is stored once.
const order = await client.logs.append(logId, "order 1", { key: "order-1" });
const again = await client.logs.append(logId, "order 1", { key: "order-1" });
console.log(`stored as ${order.sequence}, then again as ${again.sequence}, replayed: ${again.replayed}`);

// Only if no event has been appended since.
await client.logs.append(logId, "order 2", { expectedSequence: order.sequence });
try {
  await client.logs.append(logId, "too late", { expectedSequence: order.sequence });
} catch (error) {
  if (!(error instanceof QuoinError) || error.reason !== "SEQUENCE_CONFLICT") {
    throw error;
  }
  console.log(`another client was faster: the last one is ${error.details.get("last_sequence")}`);
}

// All of them or none, with any bytes.
const batch = await client.logs.appendBatch(logId, ["order 3\nof two lines", "", Uint8Array.of(0, 255)]);
console.log(`a batch is stored as ${batch.sequences?.join(", ")}`);

const page = await client.logs.read(logId, { fromSequence: 2, limit: 2 });
console.log(
  `read ${page.events.map(({ sequence, payload }) => `${sequence} ${JSON.stringify(text.decode(payload))}`).join(", ")}`,
);

// Follows the log until the loop ends, also when members are lost.
for await (const { sequence, payload } of client.logs.tail(logId, { fromSequence: 4 })) {
  console.log(`followed ${sequence}, ${payload.length} bytes`);
  if (sequence === batch.lastSequence) {
    await client.logs.append(logId, "the last one");
  }
  if (sequence > batch.lastSequence) {
    break;
  }
}
await client.logs.delete(logId);
client.close();
