/** Faults of processes: killed, paused, restarted one by one; and transfers of the leadership. */

import { readFileSync } from "node:fs";
import { type ClusterMember, exists, pause, until } from "../../test/harness/index.ts";
import {
  type FaultContext,
  type FaultKind,
  type FaultResult,
  landed,
  pick,
  skipped,
  spread,
  unclear,
} from "./fault.ts";
import { presentLeader, revive, transferTo } from "./recovery.ts";

const DOWN_MS = [1, 4_000] as const;
const PAUSE_MS = [100, 20_000] as const;
/** In a short run no pause takes more than this share of the run. */
const PAUSE_SHARE_MAX = 0.1;

export const PROCESS_FAULTS: readonly FaultKind[] = [
  memberFault("kill: leader", async (context) => {
    const leader = await presentLeader(context.cluster);
    return leader === null ? skipped("there is no leader") : kill(context, [leader]);
  }),
  memberFault("kill: follower", async (context) => {
    const leader = await presentLeader(context.cluster);
    const followers = context.cluster.members.filter((member) => member !== leader && member.isAlive);
    return leader === null || followers.length === 0
      ? skipped("there is no leader, or no follower runs")
      : kill(context, [pick(context.random, followers)]);
  }),
  memberFault("kill: all", (context) => kill(context, context.cluster.members)),
  memberFault("pause: leader", async (context) => {
    const leader = await presentLeader(context.cluster);
    return leader === null ? skipped("there is no leader") : stopForAWhile(context, leader);
  }),
  memberFault("pause: any", (context) => stopForAWhile(context, pick(context.random, context.cluster.members))),
  memberFault("rolling restart", restartAll),
  memberFault("transfer of the leadership", async (context) => {
    const leader = await presentLeader(context.cluster);
    const target = pick(
      context.random,
      context.cluster.members.filter((member) => member !== leader),
    );
    await transferTo(context.cluster, target.name);
    const after = await presentLeader(context.cluster);
    const evidence = `${leader?.name ?? "no member"} led, then ${after?.name ?? "no member"}; target ${target.name}`;
    return leader !== null && after === target ? landed(evidence) : unclear(evidence);
  }),
];

function memberFault(name: string, make: (context: FaultContext) => Promise<FaultResult>): FaultKind {
  return { name, lane: "member", needs: [], make };
}

async function kill({ cluster, random }: FaultContext, victims: readonly ClusterMember[]): Promise<FaultResult> {
  const pids = victims.filter(({ isAlive }) => isAlive).map(({ pid }) => pid);
  await Promise.all(victims.map((victim) => victim.kill()));
  const left = pids.filter(exists);
  await pause(spread(random, ...DOWN_MS));
  for (const victim of victims) {
    victim.start();
  }
  const revived = await Promise.all(victims.map(async (victim) => `${victim.name} ${await revive(cluster, victim)}`));
  const evidence = `gone: processes ${pids.join(", ")}; ${revived.join(", ")}`;
  return left.length === 0 && pids.length === victims.length ? landed(evidence) : unclear(evidence);
}

async function stopForAWhile({ cluster, random, runMs }: FaultContext, victim: ClusterMember): Promise<FaultResult> {
  const [fromMs, toMs] = PAUSE_MS;
  const durationMs = spread(random, fromMs, Math.min(toMs, runMs * PAUSE_SHARE_MAX));
  victim.pause();
  await until(`${victim.name} to be stopped`, () => processState(victim.pid) === "T");
  await pause(durationMs);
  const state = processState(victim.pid);
  victim.resume();
  const evidence = `${victim.name}, process ${victim.pid}, was in state ${state} for ${durationMs} ms`;
  return state === "T" ? landed(`${evidence}; ${await revive(cluster, victim)}`) : unclear(evidence);
}

/** The state of a process on Linux: T = stopped by a signal. */
function processState(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The program name, in parentheses, may contain anything.
  return stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3);
}

async function restartAll({ cluster }: FaultContext): Promise<FaultResult> {
  const codes: string[] = [];
  for (const member of cluster.members) {
    const { code, signal } = await member.stop();
    codes.push(`${member.name} ended with ${code ?? signal}`);
    member.start();
    await revive(cluster, member);
    if (code !== 0) {
      return unclear(codes.join(", "));
    }
  }
  return landed(codes.join(", "));
}
