/** Faults of processes: killed, paused, restarted one by one; and transfers of the leadership. */

import { readFileSync } from "node:fs";
import { type ClusterMember, exists, pause, until } from "../test/harness/index.ts";
import { type FaultKind, type Field, type Landing, landed, pick, skipped, spread, unclear } from "./fault.ts";
import { presentLeader, revive, transferTo } from "./recovery.ts";

const DOWN_MS = [1, 4_000] as const;
const PAUSE_MS = [100, 20_000] as const;
/** In a short run no pause takes more than this share of the run. */
const PAUSE_SHARE_MAX = 0.1;

export const PROCESS_FAULTS: readonly FaultKind[] = [
  memberFault("kill: leader", async (field) => {
    const leader = await presentLeader(field.cluster);
    return leader === null ? skipped("there is no leader") : kill(field, [leader]);
  }),
  memberFault("kill: follower", async (field) => {
    const leader = await presentLeader(field.cluster);
    const followers = field.cluster.members.filter((member) => member !== leader && member.isAlive);
    return leader === null || followers.length === 0
      ? skipped("there is no leader, or no follower runs")
      : kill(field, [pick(field.random, followers)]);
  }),
  memberFault("kill: all", (field) => kill(field, field.cluster.members)),
  memberFault("pause: leader", async (field) => {
    const leader = await presentLeader(field.cluster);
    return leader === null ? skipped("there is no leader") : stopForAWhile(field, leader);
  }),
  memberFault("pause: any", (field) => stopForAWhile(field, pick(field.random, field.cluster.members))),
  memberFault("rolling restart", restartAll),
  memberFault("transfer of the leadership", async (field) => {
    const leader = await presentLeader(field.cluster);
    const target = pick(
      field.random,
      field.cluster.members.filter((member) => member !== leader),
    );
    await transferTo(field.cluster, target.name);
    const after = await presentLeader(field.cluster);
    const evidence = `${leader?.name ?? "no member"} led, then ${after?.name ?? "no member"}; target ${target.name}`;
    return leader !== null && after === target ? landed(evidence) : unclear(evidence);
  }),
];

function memberFault(name: string, make: (field: Field) => Promise<Landing>): FaultKind {
  return { name, lane: "member", needs: [], make };
}

async function kill({ cluster, random }: Field, victims: readonly ClusterMember[]): Promise<Landing> {
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

async function stopForAWhile({ cluster, random, runMs }: Field, victim: ClusterMember): Promise<Landing> {
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

async function restartAll({ cluster }: Field): Promise<Landing> {
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
