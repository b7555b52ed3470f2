/** Faults of sync calls on disks that take the writes: the calls wait, fail, or never return. */

import { type ClusterMember, pause, until } from "../../test/harness/index.ts";
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
import { STORE_FAILED, STUCK } from "./specified-end.ts";
import type { SyncControl } from "./sync-shim.ts";

/**
 * From hardly noticeable to much longer than a leader may lead with a write in flight, but too short to end a process.
 */
const WAIT_MS = [200, 10_000] as const;
/** Several times as long as a member waits for a write before it gives up. */
const HANG_LIMIT_MS = 180_000;

export const SYNC_FAULTS: readonly FaultKind[] = [
  { name: "sync waits", lane: "member", needs: ["sync shim"], make: delaySyncs },
  { name: "sync fails", lane: "member", needs: ["sync shim"], make: failSyncs },
  { name: "sync never returns", lane: "member", needs: ["sync shim"], make: hangSyncs },
];

interface Victim {
  readonly member: ClusterMember;
  readonly control: SyncControl;
}

async function delaySyncs(context: FaultContext): Promise<FaultResult> {
  const victim = pickVictim(context);
  if (victim === null) {
    return skipped("no member whose syncs can wait runs");
  }
  const { member, control } = victim;
  const durationMs = spread(context.random, ...WAIT_MS);
  const before = control.waited;
  control.set("wait");
  try {
    await pause(durationMs);
  } finally {
    control.set("pass");
  }
  const waited = control.waited - before;
  const evidence = `${member.name}: ${waited} syncs waited in ${durationMs} ms; ${await revive(context.cluster, member)}`;
  return waited > 0 ? landed(evidence) : unclear(evidence);
}

/** A failed sync is not retried, because a later one would report success (P32). */
async function failSyncs(context: FaultContext): Promise<FaultResult> {
  const victim = pickVictim(context);
  if (victim === null) {
    return skipped("no member whose syncs can fail runs");
  }
  const { member, control } = victim;
  const pardon = context.excuse(member.name);
  const before = control.failed;
  control.set("fail");
  try {
    await until(`${member.name} to end because a sync has failed`, () => !member.isAlive);
  } finally {
    control.set("pass");
  }
  const failed = control.failed - before;
  const { code, signal } = await member.ended;
  if (code !== STORE_FAILED) {
    throw new Error(`${member.name} ended with ${code ?? signal} when a sync had failed, not with ${STORE_FAILED}`);
  }
  const evidence = `${member.name}: ${failed} syncs failed, it ended with ${code}; ${await revive(context.cluster, member)}`;
  pardon();
  return failed > 0 ? landed(evidence) : unclear(evidence);
}

/** A process cannot end by itself while a thread is in a call that does not return, so it kills itself (P60). */
async function hangSyncs(context: FaultContext): Promise<FaultResult> {
  const victim = pickVictim(context);
  if (victim === null) {
    return skipped("no member whose syncs can wait runs");
  }
  const { member, control } = victim;
  const pardon = context.excuse(member.name);
  const before = control.waited;
  control.set("wait");
  try {
    await until(`${member.name} to end because a sync does not return`, () => !member.isAlive, HANG_LIMIT_MS);
  } finally {
    control.set("pass");
  }
  const waited = control.waited - before;
  const { code, signal } = await member.ended;
  if (signal !== "SIGKILL" || !member.output.includes(STUCK)) {
    throw new Error(`${member.name} ended with ${code ?? signal} and did not say that a write does not come back`);
  }
  const evidence = `${member.name}: ${waited} syncs waited until it killed itself; ${await revive(context.cluster, member)}`;
  pardon();
  return waited > 0 ? landed(evidence) : unclear(evidence);
}

function pickVictim({ cluster, syncControls, random }: FaultContext): Victim | null {
  const victims = cluster.members.flatMap((member) => {
    const control = syncControls.get(member.name);
    return member.isAlive && control !== undefined ? [{ member, control }] : [];
  });
  return victims.length === 0 ? null : pick(random, victims);
}
