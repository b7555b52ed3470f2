/** Faults of the disks of running members: full, frozen, dead, read-only. */

import { readdirSync, readFileSync } from "node:fs";
import { type ClusterMember, type Ended, pause, until } from "../../test/harness/index.ts";
import type { BlockDisk } from "./block-disk.ts";
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
import { STORE_FAILED } from "./specified-end.ts";

const FULL_MS = [2_000, 6_000] as const;
/** Interval at which the fault fills up space that a member has freed, in milliseconds. */
const REFILL_MS = 100;
/** Less than any write that matters. */
const FULL_BYTES = 64 * 1024;
/**
 * From hardly noticeable to much longer than a leader may lead with a write in flight, but too short to end a process.
 */
const FROZEN_MS = [200, 10_000] as const;
/** Interval at which threads that wait for a frozen disk are counted, in milliseconds. */
const POLL_MS = 50;

export const DISK_FAULTS: readonly FaultKind[] = [
  { name: "disk full", lane: "member", needs: ["small disk"], make: fillDisk },
  { name: "disk held up", lane: "member", needs: ["block disk"], make: stallDisk },
  { name: "disk dead", lane: "member", needs: ["block disk"], make: failDisk },
  { name: "disk read-only", lane: "member", needs: ["block disk"], make: forbidWriting },
];

async function fillDisk({ cluster, smallDisks, random, excuse }: FaultContext): Promise<FaultResult> {
  const victims = cluster.members.filter(({ name, isAlive }) => isAlive && smallDisks.has(name));
  if (victims.length === 0) {
    return skipped("no member with a small disk runs");
  }
  const victim = pick(random, victims);
  const disk = smallDisks.get(victim.name);
  if (disk === undefined) {
    return skipped(`${victim.name} has no small disk`);
  }
  const pardon = excuse(victim.name);
  const endMs = performance.now() + spread(random, ...FULL_MS);
  let refused = 0;
  let free: number;
  try {
    do {
      refused += Number(await disk.fill());
      await pause(REFILL_MS);
    } while (performance.now() < endMs);
    await disk.fill();
    free = await disk.freeBytes();
  } finally {
    await disk.empty();
  }
  const end = victim.isAlive ? "its process went on" : `its process ended with ${(await victim.ended).code}`;
  const evidence = `${victim.name}: refused the filler ${refused} times, ${free} bytes free at the end; ${end}`;
  const after = await revive(cluster, victim);
  pardon();
  return refused > 0 && free < FULL_BYTES ? landed(`${evidence}; ${after}`) : unclear(evidence);
}

async function stallDisk(context: FaultContext): Promise<FaultResult> {
  const { cluster, random } = context;
  const picked = pickBlockDisk(context);
  if (picked === null) {
    return skipped("no member with a disk that can be frozen runs");
  }
  const { victim, disk } = picked;
  const durationMs = spread(random, ...FROZEN_MS);
  await disk.freeze();
  const endMs = performance.now() + durationMs;
  let waiting = 0;
  try {
    while (performance.now() < endMs) {
      await pause(POLL_MS);
      waiting = Math.max(waiting, threadsWaiting(victim.pid));
    }
  } finally {
    await disk.thaw();
  }
  const evidence = `${victim.name}: ${waiting} threads waited for the disk in ${durationMs} ms`;
  const after = await revive(cluster, victim);
  return waiting > 0 ? landed(`${evidence}; ${after}`) : unclear(`${evidence}; ${after}`);
}

async function failDisk(context: FaultContext): Promise<FaultResult> {
  const { cluster, excuse } = context;
  const picked = pickBlockDisk(context);
  if (picked === null) {
    return skipped("no member with a disk that can die runs");
  }
  const { victim, disk } = picked;
  const pardon = excuse(victim.name);
  await disk.fail();
  await until(`${victim.name} to end because its disk has died`, () => !victim.isAlive);
  const { code, signal } = await victim.ended;
  await disk.repair();
  if (code !== STORE_FAILED) {
    throw new Error(`${victim.name} ended with ${code ?? signal} when its disk had died, not with ${STORE_FAILED}`);
  }
  const after = await revive(cluster, victim);
  pardon();
  return landed(`${victim.name}: its process ended with ${code}; ${after}`);
}

/** The kernel makes a disk read-only only while no process writes, so the member meets this when it starts. */
async function forbidWriting(context: FaultContext): Promise<FaultResult> {
  const { cluster, excuse } = context;
  const picked = pickBlockDisk(context);
  if (picked === null) {
    return skipped("no member with a disk that can be made read-only runs");
  }
  const { victim, disk } = picked;
  const pardon = excuse(victim.name);
  await victim.kill();
  // The kernel may take a moment to close the files of the process.
  await until("the disk to be read-only", () =>
    disk.setReadOnly(true).then(
      () => true,
      () => false,
    ),
  );
  let ended: Ended;
  try {
    victim.start();
    await until(`${victim.name} to end because it cannot write`, () => !victim.isAlive);
    ended = await victim.ended;
  } finally {
    await victim.kill();
    await disk.setReadOnly(false);
  }
  if (ended.code !== STORE_FAILED) {
    const how = ended.code ?? ended.signal;
    throw new Error(`${victim.name} ended with ${how} on a read-only disk, not with ${STORE_FAILED}`);
  }
  const after = await revive(cluster, victim);
  pardon();
  return landed(`${victim.name}: its start ended with ${ended.code}; ${after}`);
}

function pickBlockDisk({
  cluster,
  blockDisks,
  random,
}: FaultContext): { victim: ClusterMember; disk: BlockDisk } | null {
  const victims = cluster.members.filter(({ name, isAlive }) => isAlive && blockDisks.has(name));
  const victim = victims.length === 0 ? undefined : pick(random, victims);
  const disk = victim === undefined ? undefined : blockDisks.get(victim.name);
  return victim === undefined || disk === undefined ? null : { victim, disk };
}

/** Number of threads of a process in uninterruptible sleep: they wait for a disk. */
function threadsWaiting(pid: number): number {
  const states = readdirSync(`/proc/${pid}/task`).map((thread) => {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3);
  });
  return states.filter((state) => state === "D").length;
}
