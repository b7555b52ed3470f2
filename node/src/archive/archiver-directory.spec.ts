/** Archivers of members in simulated time, with files: a directory as the store, which may be unavailable, and keys. */

import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type Catalog,
  newObjectId,
  openStore,
  putSnapshot,
  readCatalog,
  readKeyFile,
  type SnapshotHeader,
  verifyChain,
} from "@quoin/backup";
import { expect } from "chai";
import { ReplicaCluster, temporaryDirectory } from "../../test/harness/index.ts";
import { FOUNDING } from "../../test/index.ts";
import type { ArchiveHost, BackupLog } from "./archive-host.ts";
import { DEFAULT_ARCHIVE_LIMITS } from "./archive-limits.ts";
import { Archiver } from "./archiver.ts";
import { BackupRuns } from "./backup-runs.ts";
import { BackupTarget } from "./backup-target.ts";

const INTERVAL_MS = 3_600_000;
const STEP_MS = 250;
/** Real time for the disk in each step: far more than a file needs, so that simulated time does not run ahead. */
const DISK_MS = 3;
/** Far more than any wait here needs. */
const STEPS_MAX = 4_000;
const { clusterId } = FOUNDING;

describe("the archiver, with a store in a directory", () => {
  let directory: string;
  let cluster: ReplicaCluster;
  let archivers: Map<number, Archiver>;
  let said: string[];

  beforeEach(() => {
    directory = temporaryDirectory();
    mkdirSync(join(directory, "store"));
    writeFileSync(join(directory, "key"), `first:${randomBytes(32).toString("base64")}\n`, { mode: 0o600 });
    said = [];
    cluster = ReplicaCluster.ledBy(1);
    archivers = new Map([1, 2, 3].map((id) => [id, newArchiver(id)]));
  });
  afterEach(async () => {
    for (const archiver of archivers.values()) {
      archiver.stop();
    }
    await untilQuiet();
  });

  function newArchiver(memberId: number): Archiver {
    const host: ArchiveHost = {
      name: `member-${memberId}`,
      clusterName: "spec",
      clusterId,
      memberId,
      version: "0.0.0",
      get replica() {
        return cluster.node(memberId).isRunning ? cluster.replica(memberId) : null;
      },
    };
    const tell = (_fields: object, message: string): number => said.push(message);
    const log: BackupLog = { info: tell, warn: tell, error: tell };
    const location = { kind: "directory", directory: join(directory, "store") } as const;
    const place = new BackupTarget({
      location,
      keyFile: join(directory, "key"),
      log,
      openStore: (from) => openStore(from, { create: false }),
    });
    const clock = cluster.time;
    return new Archiver({
      host,
      target: place,
      clock,
      log,
      limits: DEFAULT_ARCHIVE_LIMITS,
      newId: newObjectId,
      intervalMs: INTERVAL_MS,
      runs: new BackupRuns({ host, target: place, clock, log, newId: newObjectId, onTaken: () => undefined }),
      nextTurn: () => new Promise((resolve) => setImmediate(resolve)),
      onSnapshot: async () => undefined,
    });
  }

  /** Lets time pass in small steps, and the disk work with it, until the condition is true. */
  async function passUntil(what: string, isSo: () => boolean): Promise<void> {
    for (let steps = 0; !isSo(); steps++) {
      expect(steps, `steps in vain for ${what}`).to.be.lessThan(STEPS_MAX);
      step();
      await diskTurns();
    }
  }

  /** Gives time to the threads that read and write files. */
  async function diskTurns(): Promise<void> {
    const endMs = performance.now() + DISK_MS;
    do {
      await new Promise((resolve) => setImmediate(resolve));
    } while (performance.now() < endMs);
  }

  function step(): void {
    for (const [id, archiver] of archivers) {
      if (cluster.node(id).isRunning) {
        archiver.onTick();
      }
    }
    cluster.advance(STEP_MS);
  }

  /** Lets running work finish when archivers are stopped. */
  async function untilQuiet(): Promise<void> {
    for (let turn = 0; turn < 20; turn++) {
      cluster.advance(STEP_MS);
      await diskTurns();
    }
  }

  /** The archiving member; 0 = none. */
  function holder(): number {
    return [...archivers].find(([id, archiver]) => cluster.node(id).isRunning && archiver.isArchiving)?.[0] ?? 0;
  }

  function archivedIndex(): number {
    return archivers.get(holder())?.report.index ?? 0;
  }

  /** Writes keys, and waits until they are archived; returns the index of the last entry. */
  async function archived(count: number, leader = cluster.leader): Promise<number> {
    for (let at = 0; at < count; at++) {
      expect(cluster.resultAfter(cluster.put(leader, `key-${at}`))).to.equal("done");
    }
    const { lastIndex } = cluster.replica(leader).status();
    await passUntil(`index ${lastIndex} to be archived`, () => archivedIndex() >= lastIndex);
    return lastIndex;
  }

  async function catalog(): Promise<Catalog> {
    const store = await openStore({ kind: "directory", directory: join(directory, "store") }, { create: false });
    return readCatalog(store, clusterId);
  }

  /** Reads all chains to the last byte, and returns the last index of each. */
  async function provenEnds(): Promise<(number | undefined)[]> {
    const store = await openStore({ kind: "directory", directory: join(directory, "store") }, { create: false });
    const { keyRing } = await readKeyFile(join(directory, "key"));
    const ends: (number | undefined)[] = [];
    for (const chain of (await readCatalog(store, clusterId)).chains) {
      const { problem, lastIndex } = await verifyChain(store, chain, { keyRing });
      expect(problem).to.equal(undefined);
      ends.push(lastIndex);
    }
    return ends;
  }

  /** Damages the newest object of this kind. */
  function damage(kind: "snapshots" | "segments"): void {
    const folder = join(directory, "store", clusterId, kind);
    const file = join(folder, readdirSync(folder).sort().at(-1) ?? "");
    const bytes = readFileSync(file);
    bytes[bytes.length - 1] = (bytes.at(-1) as number) ^ 1;
    writeFileSync(file, bytes);
  }

  /** Stores a snapshot as another archiver of this cluster would. */
  async function putForeign(changes: Partial<SnapshotHeader>): Promise<void> {
    const store = await openStore({ kind: "directory", directory: join(directory, "store") }, { create: false });
    const { keyRing } = await readKeyFile(join(directory, "key"));
    const header: SnapshotHeader = {
      clusterId,
      clusterName: "spec",
      id: newObjectId(),
      quoinVersion: "0.0.0",
      clusterVersion: 1,
      index: 5,
      term: 1,
      revision: 0,
      tickMs: 0,
      wallMs: 1,
      stateDigest: 1,
      ...changes,
    };
    await putSnapshot(store, header, [], keyRing);
  }

  it("starts with a snapshot, and then writes a segment every ten seconds, if there are entries", async () => {
    const first = await archived(5);
    const { chains } = await catalog();
    expect([chains.length, chains[0]?.end.index]).to.deep.equal([1, first]);
    const last = await archived(6);
    // A segment that is on its way when the wait ends may have an entry more, which advances the clock.
    const [end, ...others] = await provenEnds();
    expect([(end ?? 0) >= last, others]).to.deep.equal([true, []]);
    const { length: written } = (await catalog()).segments;
    // The six entries come within milliseconds, so not each has its own segment.
    expect(written).to.be.within(1, 3);
    const quietMs = cluster.time.monotonicMs() + 30_000;
    await passUntil("half a minute to pass", () => cluster.time.monotonicMs() > quietMs);
    const { segments } = await catalog();
    // In this time the consensus core only writes an entry that advances the clock.
    expect(segments.length - written).to.be.within(0, 3);
    expect(archivers.get(holder())?.counts).to.deep.include({ failures: 0, breaks: 0 });
  });

  it("keeps entries in the log until they are archived, and releases them when it stops", async () => {
    const index = await archived(3);
    step();
    const { backups } = cluster.replica(holder());
    expect(backups.retainedFrom).to.be.at.least(index + 1);
    expect(backups.retainedFrom).to.be.lessThan(Number.POSITIVE_INFINITY);
    archivers.get(holder())?.stop();
    expect(backups.retainedFrom).to.equal(Number.POSITIVE_INFINITY);
  });

  it("continues at the end of the chain on another member, without another snapshot", async () => {
    await archived(5);
    const before = holder();
    cluster.kill(before);
    const last = await archived(5);
    expect(holder()).not.to.equal(before);
    const [end, ...others] = await provenEnds();
    expect([(end ?? 0) >= last, others]).to.deep.equal([true, []]);
    expect((await catalog()).problems).to.deep.equal([]);
    expect(said).to.include("this member archives, and continues at the end of the archive");
  });

  it("retries with backoff while its store is unavailable, and loses nothing", async () => {
    await archived(5);
    renameSync(join(directory, "store"), join(directory, "away"));
    for (let at = 0; at < 5; at++) {
      cluster.resultAfter(cluster.put(1, `during-${at}`));
    }
    await passUntil("failures", () => [...archivers.values()].some(({ counts }) => counts.failures >= 2));
    const failing = [...archivers.values()].find(({ lastError }) => lastError !== "");
    expect(failing?.lastError).to.include("there is no such directory");
    renameSync(join(directory, "away"), join(directory, "store"));
    const last = await archived(5);
    const [end, ...others] = await provenEnds();
    expect([(end ?? 0) >= last, others]).to.deep.equal([true, []]);
    expect(archivers.get(holder())?.lastError).to.equal("");
    expect([...archivers.values()].map(({ counts }) => counts.breaks)).to.deep.equal([0, 0, 0]);
  });

  it("starts a new chain, and logs it, if the end of the archive is damaged", async () => {
    await archived(5);
    await archived(5);
    const before = holder();
    damage("segments");
    cluster.kill(before);
    const last = await archived(5);
    const { chains } = await catalog();
    expect([chains.length, (chains.at(-1)?.end.index ?? 0) >= last]).to.deep.equal([2, true]);
    expect(archivers.get(holder())?.counts.breaks).to.equal(1);
    expect(archivers.get(holder())?.report.isBroken).to.equal(false);
    expect(said.filter((message) => message.includes("chain of the archive is broken"))).to.have.length(1);
  });

  it("starts a new chain if the archive has an entry of another term than the log", async () => {
    await putForeign({ index: 5, term: 9 });
    await archived(3);
    expect(archivers.get(holder())?.counts.breaks).to.equal(1);
    expect((await catalog()).snapshots.length).to.equal(2);
  });

  it("waits while the archive is ahead of this member's applied state, and writes nothing meanwhile", async () => {
    await putForeign({ index: 1_000_000, term: 1 });
    await passUntil("a member to archive", () => holder() !== 0);
    const untilMs = cluster.time.monotonicMs() + 15_000;
    await passUntil("some time to pass", () => cluster.time.monotonicMs() > untilMs);
    const { snapshots, segments } = await catalog();
    expect([snapshots.length, segments.length]).to.deep.equal([1, 0]);
    expect([...archivers.values()].map(({ counts }) => counts.breaks)).to.deep.equal([0, 0, 0]);
  });

  it("retries, and breaks no chain, while the key for the end of the archive is missing", async () => {
    await archived(5);
    const key = readFileSync(join(directory, "key"));
    writeFileSync(join(directory, "key"), `second:${randomBytes(32).toString("base64")}\n`);
    const before = holder();
    cluster.kill(before);
    await passUntil("a failure", () => [...archivers.values()].some(({ counts }) => counts.failures > 0));
    expect([...archivers.values()].some(({ lastError }) => lastError.includes("encrypted with key first"))).to.equal(
      true,
    );
    writeFileSync(join(directory, "key"), key);
    const last = await archived(3);
    const [end, ...others] = await provenEnds();
    expect([(end ?? 0) >= last, others]).to.deep.equal([true, []]);
    expect([...archivers.values()].map(({ counts }) => counts.breaks)).to.deep.equal([0, 0, 0]);
  });
});
