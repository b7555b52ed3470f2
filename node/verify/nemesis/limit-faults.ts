/** Faults of members that get too little processor time or memory. */

import { type ClusterMember, pause } from "../../test/harness/index.ts";
import type { ControlGroup } from "./control-groups.ts";
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
import { revive } from "./recovery.ts";

const LIMIT_MS = [2_000, 10_000] as const;
/** From one turn per second to barely enough to keep up. */
const CPU_PERCENT = [2, 20] as const;
/** Memory that a member may allocate beyond its current use. */
const MEMORY_MORE_BYTES = 256 * 1024;

export const LIMIT_FAULTS: readonly FaultKind[] = [
  { name: "little processor time", lane: "member", needs: ["limits"], make: slowDown },
  { name: "little memory", lane: "member", needs: ["limits"], make: takeMemory },
];

async function slowDown(context: FaultContext): Promise<FaultResult> {
  const victim = pickVictim(context);
  if (victim === null) {
    return skipped("no member with limits runs");
  }
  const { member, group } = victim;
  const percent = spread(context.random, ...CPU_PERCENT);
  const durationMs = spread(context.random, ...LIMIT_MS);
  const before = group.throttled;
  group.limitCpu(percent);
  try {
    await pause(durationMs);
  } finally {
    group.limitCpu(null);
  }
  const throttled = group.throttled - before;
  const evidence = `${member.name} had to stop ${throttled} times in ${durationMs} ms with ${percent} % of a processor`;
  const after = await revive(context.cluster, member);
  return throttled > 0 ? landed(`${evidence}; ${after}`) : unclear(`${evidence}; ${after}`);
}

/** The kernel reclaims the page cache, and if that is not enough, kills the process. */
async function takeMemory(context: FaultContext): Promise<FaultResult> {
  const victim = pickVictim(context);
  if (victim === null) {
    return skipped("no member with limits runs");
  }
  const { member, group } = victim;
  context.excuseKill(member.pid);
  const durationMs = spread(context.random, ...LIMIT_MS);
  const before = group.memoryRefused;
  const bytes = group.memoryBytes + MEMORY_MORE_BYTES;
  group.limitMemory(bytes);
  try {
    await pause(durationMs);
  } finally {
    group.limitMemory(null);
  }
  const refused = group.memoryRefused - before;
  const end = member.isAlive ? "its process went on" : `its process ended with ${(await member.ended).signal}`;
  const evidence = `${member.name} was refused memory ${refused} times in ${durationMs} ms at ${bytes} bytes; ${end}`;
  const after = await revive(context.cluster, member);
  return refused > 0 ? landed(`${evidence}; ${after}`) : unclear(`${evidence}; ${after}`);
}

function pickVictim({ cluster, groups, random }: FaultContext): { member: ClusterMember; group: ControlGroup } | null {
  const victims = cluster.members.flatMap((member) => {
    const group = groups.get(member.name);
    return member.isAlive && group !== undefined ? [{ member, group }] : [];
  });
  return victims.length === 0 ? null : pick(random, victims);
}
