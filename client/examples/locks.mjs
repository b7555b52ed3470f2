/** Locks: work that only one process does at a time, and writes that take effect only while the lock is held. */

import { QuoinError } from "@quoin/client";
import { connect } from "./connect.mjs";

const client = connect();

/**
 * Ignores that a lock of this name exists from an earlier run.
 *
 * @param {Promise<unknown>} create
 */
async function ensureLock(create) {
  try {
    await create;
  } catch (error) {
    if (!(error instanceof QuoinError) || error.reason !== "LOCK_EXISTS") {
      throw error;
    }
  }
}

await ensureLock(client.locks.create("default", "example", { ttlSeconds: 10 }));

const first = await client.locks.hold("default", "example");
console.log(`the first holds the lock, guarded: ${first.isHeld}`);
await client.keyValue.put("default", "example-owner", "first", { guard: first.guard });

// The second waits in line. It gets the lock as soon as the first releases it.
const second = client.locks.withLock("default", "example", async (hold) => {
  console.log(`the second holds it under a greater token: ${hold.token > first.token}`);
  try {
    await client.keyValue.put("default", "example-owner", "too late", { guard: first.guard });
  } catch (error) {
    if (!(error instanceof QuoinError) || error.reason !== "FENCED") {
      throw error;
    }
    console.log("a late write of the first is refused");
  }
  await client.keyValue.put("default", "example-owner", "second", { guard: hold.guard });
});
await first.release();
await second;

await ensureLock(client.readWriteLocks.create("default", "example"));
const writer = await client.readWriteLocks.hold("default", "example", "WRITE");
await writer.downgrade();
const reader = await client.readWriteLocks.hold("default", "example", "READ");
console.log(`a ${writer.mode} and a ${reader.mode} hold the read-write lock`);
await reader.release();
await writer.release();
console.log(`then it is ${(await client.readWriteLocks.describe("default", "example")).state}`);
client.close();
