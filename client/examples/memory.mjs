/** Memory regions: bytes that processes share, read and written like a file. */

import { connect } from "./connect.mjs";

const client = connect();

const { regionId } = await client.memory.allocate("default", 8 * 1_024 * 1_024, { label: "example" });
const region = client.memory.open("default", regionId);

await region.write("hello, ");
await region.write("world");
await region.seek(0);
console.log(new TextDecoder().decode(await region.read(12)));

// Longer than one call can carry: it is divided, and reports its progress.
const frame = new Uint8Array(6 * 1_024 * 1_024).fill(7);
await region.seek(1_024 * 1_024);
await region.write(frame, {
  onProgress: (doneBytes, totalBytes) => console.log(`wrote ${doneBytes} of ${totalBytes} bytes`),
});
const back = await region.readAt(1_024 * 1_024, frame.length);
console.log(`read the same: ${Buffer.compare(back, frame) === 0}`);

const { version } = await client.memory.describe("default", regionId);
await client.memory.resize("default", regionId, 12, { expectedVersion: version });
console.log(`shrunk to ${await region.size()} bytes`);
await client.memory.free("default", regionId);
client.close();
