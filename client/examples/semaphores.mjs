/** A semaphore: four workers, at most two at a time. */

import { connect } from "./connect.mjs";

const client = connect();
const { semaphores } = client;
await semaphores.create("default", "example-semaphore", 2, { ttlSeconds: 10 });

let working = 0;
let most = 0;
await Promise.all(
  ["a", "b", "c", "d"].map((name) =>
    semaphores.withPermits("default", "example-semaphore", async (hold) => {
      working += 1;
      most = Math.max(most, working);
      await client.keyValue.put("default", `example-semaphore/${name}`, "done", { guard: hold.guard });
      working -= 1;
    }),
  ),
);
console.log(`at most ${most} worked at a time`);

await semaphores.update("default", "example-semaphore", 3);
const hold = await semaphores.hold("default", "example-semaphore", { permits: 3 });
const { permits, heldPermits } = await semaphores.describe("default", "example-semaphore");
console.log(`${heldPermits} of ${permits} permits are held: ${hold.isHeld}`);
await hold.release();
await semaphores.delete("default", "example-semaphore");
client.close();
