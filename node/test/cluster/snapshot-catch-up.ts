/**
 * `node node/test/cluster/snapshot-catch-up.ts --mebibytes 1024`: this much is written while a follower is down; then
 * it comes back. Prints how long it takes to catch up, and the latency of the others meanwhile.
 */

import { parseArgs } from "node:util";
import { ClusterUnderTest } from "../harness/index.ts";
import { writeMebibytes, wrongKeys } from "./bulk.ts";
import { requireCorrect } from "./correctness.ts";

/** Enough for a meaningful p99. */
const WRITES_MEASURED = 5_000;
const WRITES_WARM = 500;

const { values } = parseArgs({
  options: { mebibytes: { type: "string", default: "1024" }, seed: { type: "string", default: "1" } },
});
const mebibytes = Number(values.mebibytes);

await ClusterUnderTest.with(3, async (cluster) => {
  const follower = await cluster.follower();
  const endpoints = cluster.endpoints.filter((endpoint) => endpoint !== follower.grpc);
  const before = await follower.status();
  await follower.kill();
  const client = cluster.client(endpoints);
  // Every value stays, so the snapshot is as large as the written data.
  const written = await writeMebibytes(client, mebibytes, (writes) => writes >= mebibytes);
  const leader = await cluster.leader();
  console.log(
    `${mebibytes} MiB written; the log begins at ${(await leader.status())?.firstIndex}, ` +
      `the follower's ended at ${before?.lastIndex}`,
  );

  const load = cluster.load({ endpoints, clients: 4, keys: 8, seed: Number(values.seed) });
  load.start();
  await load.untilAcknowledged(WRITES_WARM);
  const beforeMs = performance.now();
  await load.untilAcknowledged(WRITES_MEASURED);
  const startMs = performance.now();
  follower.start();
  await cluster.untilCaughtUp(follower.name);
  const endMs = performance.now();
  load.renewKeys();
  await load.untilAcknowledged(WRITES_MEASURED);
  await load.stop();
  const after = await follower.status();
  console.log(
    `caught up in ${((endMs - startMs) / 1000).toFixed(1)} s; its log begins at ${after?.firstIndex}: ` +
      `${(after?.firstIndex ?? 0) > (before?.lastIndex ?? 0) + 1 ? "by a snapshot" : "without a snapshot"}`,
  );
  for (const [name, fromMs, toMs] of [
    ["before", beforeMs, startMs],
    ["meanwhile", startMs, endMs],
    ["after", endMs, performance.now()],
  ] as const) {
    const { latencyMsP50, latencyMsP99, acknowledgedWrites, failed, unknown } = load.statistics(fromMs, toMs);
    console.log(
      `${name}: p50 ${latencyMsP50.toFixed(2)} ms, p99 ${latencyMsP99.toFixed(2)} ms, ` +
        `${acknowledgedWrites} acknowledged writes, ${failed} failed, ${unknown} unknown`,
    );
  }
  requireCorrect(load.history);
  const reader = cluster.client([follower.grpc]);
  const wrong = await wrongKeys(reader, written);
  console.log(wrong.length === 0 ? "the follower has every value" : `the follower lacks ${wrong.length} values`);
  process.exitCode = wrong.length === 0 ? 0 : 1;
});
