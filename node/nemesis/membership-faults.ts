/** Changes of the membership under load, as far as they are no repair. */

import { until } from "../test/harness/index.ts";
import { type FaultKind, type Field, type Landing, landed, pick, unclear } from "./fault.ts";
import { presentLeader, untilAbsent, untilVoter } from "./recovery.ts";

export const MEMBERSHIP_FAULTS: readonly FaultKind[] = [
  { name: "churn: one more, one less", lane: "member", needs: [], make: churn },
];

/** Adds a member of a new name, and removes one that is there, perhaps the new one, perhaps the leader. */
async function churn({ cluster, load, random, release }: Field): Promise<Landing> {
  const numbers = cluster.members.map(({ name }) => Number(name.slice(2)));
  const added = `q-${Math.max(...numbers) + 1}`;
  await untilVoter(cluster, added);
  load.connectTo(cluster.endpoints);
  const removed = pick(random, cluster.members).name;
  const staying = cluster.members.filter(({ name }) => name !== removed);
  load.connectTo(staying.map(({ grpc }) => grpc));
  const wasLeader = (await presentLeader(cluster))?.name === removed;
  await untilAbsent(cluster, removed);
  const member = cluster.member(removed);
  const ending = await until(`${removed} to notice that it was removed`, async () => {
    if (!member.isAlive) {
      return `ended with ${(await member.ended).code}`;
    }
    const state = (await member.status())?.state;
    return state === "MEMBER_REMOVED" ? `is ${state}` : null;
  });
  await cluster.forget(removed);
  await release(removed);
  const names = cluster.members.map(({ name }) => name);
  const evidence = `${added} was added, ${removed}${wasLeader ? ", the leader," : ""} removed and ${ending}: ${names}`;
  return removed !== added && !names.includes(added) ? unclear(evidence) : landed(evidence);
}
