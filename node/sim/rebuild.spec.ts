/**
 * Restores at random points of random histories: the state that is rebuilt from a backup is the one that the cluster had. The
 * histories are those of simulated clusters, with operations of every kind, changes of members and several leaders.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import {
  type BackupStore,
  type Catalog,
  KeyRing,
  newObjectId,
  openStore,
  planRestore,
  putSegment,
  putSnapshot,
  type Row,
  readCatalog,
  type SnapshotHeader,
} from "@quoin/backup";
import { expect } from "chai";
import { changeConfiguration, entryTerm, entryWallMs, NO_CONFIGURATION } from "../src/raft/index.ts";
import { type RebuildPoint, rebuild } from "../src/rebuild/index.ts";
import { CLUSTER_VERSION, type Progress, readCluster, type StateLimits, StateMachine } from "../src/state/index.ts";
import { OfflineState } from "../src/storage/index.ts";
import { FOUNDING, MemoryStateStore, rowsOf } from "../test/index.ts";
import { commitText, drawScript, firstSeedOf, Simulation } from "./index.ts";

const HISTORIES = 4;
const POINTS = 12;
const FIRST = firstSeedOf(commitText(), "histories that are restored", HISTORIES);
const ORIGIN = {
  clusterId: FOUNDING.clusterId,
  clusterName: "quoin",
  quoinVersion: "0.1.0",
  clusterVersion: CLUSTER_VERSION,
};
const KEY_RING = new KeyRing([{ id: "spec", bytes: new Uint8Array(32).fill(7) }]);

/** What a cluster was after each entry, and all rows of its state after some of them. */
interface History {
  readonly rows: readonly Uint8Array[];
  /** By index; index 0 stands for nothing. */
  readonly progress: readonly (Progress | undefined)[];
  readonly snapshots: ReadonlyMap<number, readonly Row[]>;
}

function historyOf(rows: readonly Uint8Array[], limits: StateLimits, snapshotAt: (index: number) => boolean): History {
  const store = new MemoryStateStore();
  const machine = new StateMachine(store, (previous, bytes) => crc32(bytes, previous), limits);
  const progress: (Progress | undefined)[] = [undefined];
  const snapshots = new Map<number, readonly Row[]>();
  for (const [position, row] of rows.entries()) {
    const before = readCluster(store)?.configuration ?? NO_CONFIGURATION;
    machine.apply(row, (index, change, expectIndex) => changeConfiguration(before, index, change, expectIndex));
    machine.commit();
    progress.push(machine.progress);
    if (snapshotAt(position + 1)) {
      snapshots.set(position + 1, [...rowsOf(store)]);
    }
  }
  return { rows, progress, snapshots };
}

/** Numbers that follow from a seed. */
function numbersOf(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function headerAt({ progress, rows }: History, index: number): SnapshotHeader {
  const { revision, tickMs, wallMs, digest: stateDigest } = progress[index] as Progress;
  const term = entryTerm(rows[index - 1] as Uint8Array);
  return { ...ORIGIN, id: newObjectId(), index, term, revision, tickMs, wallMs, stateDigest };
}

/** Writes all of the history: snapshots where there are any, and segments of random lengths; some do not say where they end. */
async function archive(store: BackupStore, history: History, below: (below: number) => number): Promise<void> {
  const { rows, progress, snapshots } = history;
  const first = Math.min(...snapshots.keys());
  let previous: { readonly id: string; readonly hash: Uint8Array } | undefined;
  for (const [index, state] of snapshots) {
    const header = headerAt(history, index);
    const { hash } = await putSnapshot(store, header, [state], KEY_RING);
    previous ??= { id: header.id, hash };
  }
  for (let next = first + 1; next <= rows.length && previous !== undefined; ) {
    const lastIndex = Math.min(rows.length, next + below(60));
    const entries = rows
      .slice(next - 1, lastIndex)
      .map((bytes, at) => ({ index: next + at, term: entryTerm(bytes), bytes }));
    const { revision, wallMs, digest } = progress[lastIndex] as Progress;
    const isKnown = below(4) > 0;
    const header = {
      ...{ ...ORIGIN, id: newObjectId(), firstIndex: next, lastIndex },
      ...{ firstTerm: entries[0]?.term ?? 0, lastTerm: entries.at(-1)?.term ?? 0 },
      ...(isKnown ? { lastRevision: revision, lastWallMs: wallMs, stateDigest: digest } : {}),
      ...{ previousId: previous.id, previousHash: previous.hash },
    };
    const { hash } = await putSegment(store, header, [entries], KEY_RING);
    previous = { id: header.id, hash };
    next = lastIndex + 1;
  }
}

/** The last index that the point asks for. */
function indexAt({ progress, rows }: History, from: number, point: RebuildPoint): number {
  let index = from;
  while (index < rows.length) {
    const isOver =
      (point.kind === "index" && index >= point.index) ||
      (point.kind === "revision" && (progress[index]?.revision ?? 0) >= point.revision) ||
      (point.kind === "time" && entryWallMs(rows[index] as Uint8Array) > point.wallMs);
    if (isOver) {
      break;
    }
    index++;
  }
  return index;
}

function planOf(catalog: Catalog, point: RebuildPoint) {
  if (point.kind !== "index") {
    return planRestore(catalog, point);
  }
  const chain = catalog.chains.findLast(({ snapshot }) => snapshot.index <= point.index);
  expect(chain, "a chain that begins before the index").not.to.equal(undefined);
  return chain as Exclude<typeof chain, undefined>;
}

describe("states that are rebuilt from backups", function () {
  this.timeout(240_000);

  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "quoin-test-rebuild-"));
  });

  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  for (let seed = FIRST; seed < FIRST + HISTORIES; seed++) {
    it(`have the digests that the cluster of seed ${seed} had`, async () => {
      const below = numbersOf(seed);
      const script = drawScript(seed);
      const simulation = new Simulation(script);
      expect((await simulation.run()).failure).to.equal(null);
      const stateLimits = script.plan.limits.state;
      const rows = simulation.committed;
      const snapshotAt = new Set([1, 1 + below(rows.length), 1 + below(rows.length)]);
      const history = historyOf(rows, stateLimits, (index) => snapshotAt.has(index));
      const store = await openStore({ kind: "directory", directory: join(directory, "store") }, { create: true });
      await archive(store, history, below);
      const catalog = await readCatalog(store);
      const kinds = ["latest", "index", "revision", "time"] as const;
      let compared = 0;
      for (let at = 0; at < POINTS; at++) {
        const target = history.progress[1 + below(rows.length)] as Progress;
        const point: RebuildPoint = {
          latest: { kind: "latest" as const },
          index: { kind: "index" as const, index: target.appliedIndex },
          revision: { kind: "revision" as const, revision: target.revision },
          time: { kind: "time" as const, wallMs: target.wallMs },
        }[kinds[at % kinds.length] as (typeof kinds)[number]];
        const objects = planOf(catalog, point);
        const state = await OfflineState.create(join(directory, `scratch-${at}`), stateLimits);
        const unseal = { keyRing: KEY_RING, isSealRequired: true };
        const rebuilt = await rebuild({ store, objects, point, unseal, state }).finally(() => state.close());
        const index = indexAt(history, objects.snapshot.index, point);
        expect(rebuilt.progress, JSON.stringify(point)).to.deep.equal(history.progress[index]);
        compared += rebuilt.digestsCompared;
      }
      await store.close();
      expect(compared, "digests that objects say").to.be.greaterThan(POINTS);
    });
  }
});
