/** Changes of the membership and of addresses under load, other than repairs. */

import { stablePorts, until } from "../../test/harness/index.ts";
import { type FaultContext, type FaultKind, type FaultResult, landed, pick, skipped, unclear } from "./fault.ts";
import { presentLeader, replace, revive, untilAbsent, untilVoter } from "./recovery.ts";

export const MEMBERSHIP_FAULTS: readonly FaultKind[] = [
  { name: "churn: one more, one less", lane: "member", needs: [], make: churn },
  { name: "churn: replaced under its name", lane: "member", needs: [], make: exchange },
  { name: "address changed", lane: "member", needs: [], make: move },
];

/** Adds a member with a new name, and removes any one, possibly the new one or the leader. */
async function churn({ cluster, load, random, release }: FaultContext): Promise<FaultResult> {
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

/** Removes a healthy member, and adds another one with the same name. */
async function exchange({ cluster, random, damage }: FaultContext): Promise<FaultResult> {
  const member = pick(random, cluster.members);
  const former = (await member.status())?.id;
  if (former === undefined) {
    return skipped(`${member.name} does not answer`);
  }
  await damage.replaceOthers(cluster, member.name);
  await untilAbsent(cluster, member.name);
  await replace(cluster, member);
  const now = (await member.status())?.id;
  const evidence = `${member.name} was ${former} and is ${now}`;
  return now !== undefined && now !== former ? landed(evidence) : unclear(evidence);
}

/** Starts a member at another address, which it announces to the others. Its certificates and filters follow it. */
async function move({ cluster, load, random, inQuiet, readdress }: FaultContext): Promise<FaultResult> {
  // The filters of a network fault would not match the new address.
  return inQuiet(async () => {
    const member = pick(random, cluster.members);
    const former = member.peer;
    await member.kill();
    const host = await readdress(member.name);
    member.moveTo(host ?? member.host, await stablePorts());
    load.connectTo(cluster.endpoints);
    member.start();
    const after = await revive(cluster, member);
    await until(`the cluster to know ${member.name} at ${member.peer}`, async () => {
      const leader = await presentLeader(cluster);
      const { known } = (await leader?.report()) ?? {};
      return known?.members.some(({ name, peerEndpoint }) => name === member.name && peerEndpoint === member.peer);
    });
    return landed(`${member.name} went from ${former} to ${member.peer} and ${after}`);
  });
}
