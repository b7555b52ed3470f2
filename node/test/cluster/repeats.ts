/**
 * `node node/test/cluster/repeats.ts --transactions 10000 --kills 20 --seed 1`: sends requests again at other members
 * while the leader is killed, and counts how often each was executed.
 */

import { parseArgs } from "node:util";
import { ClusterUnderTest } from "../harness/index.ts";
import { repeatRequests } from "./repeated-requests.ts";

const { values } = parseArgs({
  options: {
    transactions: { type: "string", default: "10000" },
    kills: { type: "string", default: "20" },
    clients: { type: "string", default: "16" },
    seed: { type: "string", default: "1" },
  },
});
await ClusterUnderTest.with(3, async (cluster) => {
  const [transactions, kills] = [Number(values.transactions), Number(values.kills)];
  const startMs = performance.now();
  const clients = Number(values.clients);
  const told = await repeatRequests(cluster, { transactions, kills, clients, seed: Number(values.seed) });
  const seconds = Math.round((performance.now() - startMs) / 1_000);
  console.log(`${transactions} transactions and ${kills} kills in ${seconds} s: each was executed once; ${told}`);
});
