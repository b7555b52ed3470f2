/**
 * `node node/test/cluster/stopped-follower.ts --minutes 3`: a signal stops one follower, with its connections open,
 * under a load of large writes at the others. Prints the memory of all members over time.
 */

import { parseArgs } from "node:util";
import { ClusterUnderTest, pause } from "../harness/index.ts";
import { writeMebibytes } from "./bulk.ts";

const MEBIBYTE = 1024 * 1024;
const INTERVAL_MS = 10_000;
/** Few keys, so that the state stays small: the growth is not data. */
const KEYS = 64;

const { values } = parseArgs({ options: { minutes: { type: "string", default: "3" } } });
const durationMs = Number(values.minutes) * 60_000;

await ClusterUnderTest.with(3, async (cluster) => {
  const stopped = await cluster.follower();
  const leader = await cluster.leader();
  const startMs = performance.now();
  let written = 0;
  const print = (): void => {
    const seconds = Math.round((performance.now() - startMs) / 1000);
    const memory = cluster.members.map((member) => {
      const role = member === leader ? "leader" : member === stopped ? "stopped" : "follower";
      return `${member.name} (${role}) ${Math.round(member.rssBytes() / MEBIBYTE)} MiB`;
    });
    console.log(`${seconds} s, ${written} MiB written: ${memory.join(", ")}`);
  };
  print();
  stopped.pause();
  const client = cluster.client(cluster.endpoints.filter((endpoint) => endpoint !== stopped.grpc));
  const writing = writeMebibytes(client, KEYS, (writes) => {
    written = writes;
    return performance.now() - startMs > durationMs;
  });
  while (performance.now() - startMs < durationMs) {
    await pause(INTERVAL_MS);
    print();
  }
  await writing;
  stopped.resume();
  await stopped.untilReady();
  await cluster.untilStable();
  console.log("the stopped follower goes on and has caught up");
  print();
});
