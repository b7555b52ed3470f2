/** `node node/test/cluster/leader-kills.ts --rounds 20 --seed 1`: how long writes stop when the leader is killed. */

import { parseArgs } from "node:util";
import { ClusterUnderTest } from "../harness/index.ts";
import { requireCorrect } from "./correctness.ts";
import { killLeaders } from "./leader-kill-rounds.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "20" },
    seed: { type: "string", default: "1" },
    members: { type: "string", default: "3" },
    clients: { type: "string", default: "6" },
    "timeout-ms": { type: "string", default: "5000" },
  },
});
await ClusterUnderTest.with(Number(values.members), async (cluster) => {
  const clients = Number(values.clients);
  const load = cluster.load({ clients, keys: 5, seed: Number(values.seed), timeoutMs: Number(values["timeout-ms"]) });
  const startMs = performance.now();
  load.start();
  const gapsMs = await killLeaders(cluster, load, Number(values.rounds), (round, gapMs) => {
    console.log(`round ${round}: no acknowledged write for ${Math.round(gapMs)} ms`);
  });
  await load.stop();
  const { acknowledgedWrites, failed, unknown, failures } = load.statistics(startMs, performance.now());
  console.log(
    `${acknowledgedWrites} acknowledged writes, ${failed} failed, ${unknown} unknown ${[...failures.keys()].join("; ")}`.trimEnd(),
  );
  requireCorrect(load.history);
  const sorted = gapsMs.sort((a, b) => a - b);
  const p50 = sorted[Math.floor(sorted.length / 2)] ?? 0;
  console.log(`write gap: p50 ${Math.round(p50)} ms, max ${Math.round(sorted.at(-1) ?? 0)} ms; the history is correct`);
});
