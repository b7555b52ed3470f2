/**
 * Faults of stored data: a directory that is gone or replaced by an older copy, and files that are damaged while their
 * member is down. Only one member at a time, because no protocol survives the loss of more than a minority.
 */

import { readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { type ClusterMember, type ClusterUnderTest, until } from "../../test/harness/index.ts";
import { type FaultContext, type FaultKind, type FaultResult, landed, pick, skipped, unclear } from "./fault.ts";
import { replace, revive } from "./recovery.ts";

const STATE_LIMIT_MS = 60_000;

export const DAMAGE_FAULTS: readonly FaultKind[] = [
  { name: "directory wiped", lane: "member", needs: [], make: wipe },
  { name: "directory of an older copy", lane: "member", needs: [], make: restoreOldData },
  damageOf("damage: bit flipped", (path, random) => {
    const bytes = readFileSync(path);
    const bit = random(bytes.length * 8);
    const before = bytes[bit >> 3] as number;
    bytes[bit >> 3] = before ^ (1 << (bit & 7));
    writeFileSync(path, bytes);
    const isFlipped = readFileSync(path)[bit >> 3] !== before;
    return { isDone: isFlipped, what: `bit ${bit} of ${bytes.length * 8}` };
  }),
  damageOf("damage: end cut off", (path, random) => {
    const { size } = statSync(path);
    const length = random(size);
    truncateSync(path, length);
    return { isDone: statSync(path).size === length, what: `${size} bytes cut to ${length}` };
  }),
  damageOf("damage: file deleted", (path) => {
    const { size } = statSync(path);
    rmSync(path);
    return { isDone: statSync(path, { throwIfNoEntry: false }) === undefined, what: `of ${size} bytes` };
  }),
];

async function wipe({ cluster, random, damage }: FaultContext): Promise<FaultResult> {
  const victim = pick(random, cluster.members);
  const old = (await victim.status())?.id;
  if (old === undefined) {
    return skipped(`${victim.name} does not answer`);
  }
  await damage.replaceOthers(cluster, victim.name);
  await victim.kill();
  victim.wipe();
  victim.start();
  // It learns this from another member that knows its name, so it must reach one.
  const { id } = await victim.untilState("MEMBER_DATA_LOST", STATE_LIMIT_MS);
  await replace(cluster, victim);
  const now = (await victim.status())?.id ?? "";
  const evidence = `${victim.name} said MEMBER_DATA_LOST as "${id}", was ${old} and is ${now}`;
  return now !== old && id === "" ? landed(evidence) : unclear(evidence);
}

/**
 * Restores an older copy of a member's directory. The others notice, because they have met later starts of it. No
 * network fault may happen meanwhile, because a member that had not met the later start could not notice.
 */
function restoreOldData({ cluster, random, inQuiet, damage }: FaultContext): Promise<FaultResult> {
  return inQuiet(async () => {
    const victim = pick(random, cluster.members);
    await damage.replaceOthers(cluster, victim.name);
    await victim.kill();
    const copy = `${victim.dataDirectory}-copy`;
    await cp(victim.dataDirectory, copy, { recursive: true });
    try {
      // The copy continues to count boots from its own number. With only one more start the numbers would be equal.
      for (let starts = 0; starts < 2; starts++) {
        await victim.restart();
        await revive(cluster, victim);
      }
      const id = (await victim.status())?.id ?? "";
      const boot = await untilMetByAll(cluster, victim, id);
      await victim.kill();
      victim.wipe();
      await cp(copy, victim.dataDirectory, { recursive: true });
      victim.start();
      const { alarms } = await victim.untilState("MEMBER_REFUSED", STATE_LIMIT_MS);
      await replace(cluster, victim);
      return landed(`${victim.name}, met by all in boot ${boot}, was refused as an older copy: ${alarms.join("; ")}`);
    } finally {
      rmSync(copy, { recursive: true, force: true });
    }
  });
}

/** Waits until all others have met the same, latest boot of a member, and returns that boot number. */
async function untilMetByAll(cluster: ClusterUnderTest, member: ClusterMember, id: string): Promise<number> {
  const others = cluster.members.filter((other) => other !== member);
  return until(`all to meet ${member.name}`, () => {
    const boots = others.map((other) => bootMet(other.output, id));
    const latest = Math.max(...boots);
    return latest > 0 && boots.every((boot) => boot === latest) ? latest : null;
  });
}

/** The latest boot of a member in the log of another one; 0 = none. */
function bootMet(log: string, id: string): number {
  const met = new RegExp(
    `"peer":${id},.*"boot":([0-9]+),"msg":"(?:connected to a member|a member has connected)"`,
    "g",
  );
  return Math.max(0, ...log.matchAll(met).map(([, boot]) => Number(boot)));
}

interface Done {
  readonly isDone: boolean;
  readonly what: string;
}

function damageOf(name: string, hurt: (path: string, random: (bound: number) => number) => Done): FaultKind {
  const make = async (context: FaultContext): Promise<FaultResult> => {
    const { cluster, random, excuse, damage } = context;
    const victim = pick(random, cluster.members);
    await damage.replaceOthers(cluster, victim.name);
    await victim.kill();
    const files = filesOf(victim);
    if (files.length === 0) {
      return skipped(`${victim.name} has no files: ${await revive(cluster, victim)}`);
    }
    excuse(victim.name);
    damage.note(victim.name);
    const file = pick(random, files);
    const { isDone, what } = hurt(join(victim.dataDirectory, file), random);
    victim.start();
    await until(`${victim.name} to open its data`, async () => !victim.isAlive || (await victim.status()) !== null);
    const evidence = `${victim.name}/${file}: ${what}; ${await revive(cluster, victim)}`;
    return isDone ? landed(evidence) : unclear(evidence);
  };
  return { name, lane: "member", needs: [], make };
}

/** Non-empty files of a member's log and state, relative to its data directory, without RocksDB's own notes. */
function filesOf({ dataDirectory }: ClusterMember): string[] {
  return readdirSync(dataDirectory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/^(LOG|LOCK|IDENTITY$|OPTIONS)/.test(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => statSync(path).size > 0)
    .map((path) => path.slice(dataDirectory.length + 1))
    .filter((path) => /^(?:log|state-[^/]*)\//.test(path))
    .sort();
}
