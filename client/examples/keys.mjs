/** Keys and values: written, read, changed only if unchanged since, listed, and removed. */

import { QuoinError } from "@quoin/client";
import { connect } from "./connect.mjs";

const client = connect();
const { keyValue } = client;
const text = new TextDecoder();

await keyValue.put("default", "example/greeting", "hello", { ttlSeconds: 3_600 });
const { value, modRevision } = await keyValue.get("default", "example/greeting");
console.log(`read "${text.decode(value)}"`);

const swap = await keyValue.compareAndSwap("default", "example/greeting", "goodbye", {
  expectedModRevision: modRevision,
});
console.log(swap.success ? "changed it" : "another client has changed it");

const late = await keyValue.compareAndSwap("default", "example/greeting", "too late", {
  expectedModRevision: modRevision,
});
console.log(`a second change is refused: ${!late.success}`);

await keyValue.put("default", "example/number", Uint8Array.of(42));
for await (const page of keyValue.pages("default", { prefix: "example/" })) {
  for (const entry of page.items) {
    console.log(`listed ${entry.key}, version ${entry.version}`);
  }
}

await keyValue.delete("default", "example/number");
await keyValue.delete("default", "example/greeting");
try {
  await keyValue.get("default", "example/greeting");
} catch (error) {
  if (!(error instanceof QuoinError) || error.reason !== "KEY_NOT_FOUND") {
    throw error;
  }
  console.log("removed it");
}
client.close();
