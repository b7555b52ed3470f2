import { join } from "node:path";
import { crc32 } from "node:zlib";
import { type Catalog, KeyRing, openStore, planRestore, type Row, readCatalog } from "@quoin/backup";
import { expect } from "chai";
import { drawnSeed, temporaryDirectory } from "../../../testing/index.ts";
import { changeConfiguration, NO_CONFIGURATION } from "../../src/raft/index.ts";
import { type RebuildPoint, rebuild } from "../../src/rebuild/index.ts";
import { type Progress, readCluster, type StateLimits, StateMachine } from "../../src/state/index.ts";
import { OfflineState } from "../../src/storage/index.ts";
import { FOUNDING, MemoryStateStore, rowsOf } from "../../test/index.ts";
import { archiveHistory, countRecordedDigests, type History, indexAt, numbersOf } from "../../test/restored/index.ts";
import { drawScript, Simulation } from "./index.ts";

const HISTORIES = 2;
const POINTS = 8;
const FIRST = drawnSeed("histories that are restored", HISTORIES);
const KEY_RING = new KeyRing([{ id: "spec", bytes: new Uint8Array(32).fill(7) }]);

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
  return { clusterId: FOUNDING.clusterId, rows, progress, snapshots };
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
    directory = temporaryDirectory();
  });

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
      await archiveHistory(store, history, { below, segmentMax: 60, keyRing: KEY_RING });
      const catalog = await readCatalog(store);
      const kinds = ["latest", "index", "revision", "time"] as const;
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
        const decryptOptions = { keyRing: KEY_RING };
        const rebuilt = await rebuild({ store, objects, point, decryptOptions, state }).finally(() => state.close());
        const index = indexAt(history, objects.snapshot.index, point);
        expect(rebuilt.progress, JSON.stringify(point)).to.deep.equal(history.progress[index]);
        const recorded = await countRecordedDigests({ store, objects, decryptOptions, index });
        expect(rebuilt.digestsCompared, `digests compared, ${JSON.stringify(point)}`).to.equal(recorded);
      }
      await store.close();
    });
  }
});
