import { expect } from "chai";
import fc from "fast-check";
import { temporaryDirectory } from "../../../testing/index.ts";
import { CLUSTER, chunked, codeOf, type Previous, START_MS, segmentHeader, snapshotHeader } from "../../test/index.ts";
import { DirectoryStore, type StoredObject, StoreFailure } from "../store/index.ts";
import { type Catalog, catalogOf, readCatalog } from "./catalog.ts";
import { segmentName, snapshotName } from "./object-name.ts";
import { planRestore } from "./restore-plan.ts";
import { deletePlanned, planDeletion, planRetention, type RetentionPlan } from "./retention.ts";

const HASH = new Uint8Array(32);

/** Names of an archive: segments that follow each other up to these indexes, and snapshots at these. */
function archive(snapshots: readonly number[], ends: readonly number[], start = 0): StoredObject[] {
  const names = snapshots.map((index) => snapshotName(snapshotHeader(index)));
  let previous: Previous = { id: snapshotHeader(start).id, hash: HASH };
  let first = start + 1;
  for (const end of ends) {
    const header = segmentHeader(first, end, previous);
    names.push(segmentName(header));
    previous = { id: header.id, hash: HASH };
    first = end + 1;
  }
  return names.map((name) => ({ name, size: 10, modifiedMs: 0 }));
}

function indexesOf({ deletions }: RetentionPlan): string[] {
  return deletions.map((object) =>
    object.kind === "snapshot" ? `s${object.index}` : `${object.firstIndex}-${object.lastIndex}`,
  );
}

/** The indexes that can be restored. */
function restorable(catalog: Catalog): Set<number> {
  const indexes = new Set<number>();
  for (const { snapshot, end } of catalog.chains) {
    for (let index = snapshot.index; index <= end.index; index++) {
      indexes.add(index);
    }
  }
  return indexes;
}

describe("retention", () => {
  const objects = archive([10, 30, 50, 70], [10, 20, 30, 40, 50, 60, 70, 80]);
  const catalog = catalogOf(CLUSTER, objects);
  const nowMs = START_MS + 80_000;

  it("keeps a number of snapshots and everything after them, and deletes the oldest object last", () => {
    expect(indexesOf(planRetention(catalog, { keepSnapshots: 2 }, nowMs))).to.deep.equal([
      "41-50",
      "31-40",
      "21-30",
      "s30",
      "11-20",
      "1-10",
      "s10",
    ]);
    expect(planRetention(catalog, { keepSnapshots: 2 }, nowMs)).to.deep.include({ bytes: 70 });
    expect(planRetention(catalog, { keepSnapshots: 2 }, nowMs).oldestKept?.index).to.equal(50);
    expect(indexesOf(planRetention(catalog, { keepSnapshots: 9 }, nowMs))).to.deep.equal(["1-10"]);
    expect(planRetention(catalog, {}, nowMs).oldestKept?.index).to.equal(70);
  });

  it("keeps everything that a moment within the age needs", () => {
    const oldest = (keepMs: number, keepSnapshots?: number) =>
      planRetention(catalog, { keepMs, keepSnapshots }, nowMs).oldestKept?.index;
    expect(oldest(30_000)).to.equal(50);
    expect(oldest(29_999)).to.equal(50);
    expect(oldest(30_001)).to.equal(30);
    expect(oldest(1_000_000)).to.equal(10);
    expect(oldest(0)).to.equal(70);
    // Both rules: an object that either of them requires is kept.
    expect(oldest(0, 3)).to.equal(30);
    expect(oldest(60_000, 1)).to.equal(10);
  });

  it("never deletes the last usable snapshot", () => {
    const damaged = new Set(catalog.snapshots.filter(({ index }) => index > 30).map(({ name }) => name));
    const plan = planRetention(catalog, { keepSnapshots: 1, keepMs: 0, damaged }, nowMs);
    expect(plan.oldestKept?.index).to.equal(30);
    const all = new Set(catalog.snapshots.map(({ name }) => name));
    expect(planRetention(catalog, { damaged: all }, nowMs)).to.deep.equal({
      deletions: [],
      oldestKept: undefined,
      bytes: 0,
    });
    const later = planRetention(catalog, { keepMs: 1 }, nowMs + 1_000_000_000);
    expect(later.oldestKept?.index).to.equal(70);
    expect(planRetention(catalogOf(CLUSTER, archive([], [10, 20])), {}, nowMs).deletions).to.deep.equal([]);
  });

  it("leaves a restorable archive after each step, with the complete newest chain", () => {
    const steps = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 12 });
    const property = fc.property(
      steps,
      fc.integer({ min: 1, max: 4 }),
      fc.nat(100_000),
      (lengths, keepSnapshots, keepMs) => {
        const ends = lengths.map((_, position) =>
          lengths.slice(0, position + 1).reduce((sum, length) => sum + length, 0),
        );
        const snapshots = [0, ...ends.filter((_, position) => position % 2 === 0).map((end) => end - 1)];
        const stored = archive([...new Set(snapshots)], ends);
        const plan = planRetention(
          catalogOf(CLUSTER, stored),
          { keepSnapshots, keepMs },
          START_MS + (ends.at(-1) ?? 0) * 1000,
        );
        const kept = plan.oldestKept?.index ?? 0;
        let before = restorable(catalogOf(CLUSTER, stored));
        for (let count = 1; count <= plan.deletions.length; count++) {
          const gone = new Set(plan.deletions.slice(0, count).map(({ name }) => name));
          const left = catalogOf(
            CLUSTER,
            stored.filter(({ name }) => !gone.has(name)),
          );
          const now = restorable(left);
          for (let index = kept; index <= (ends.at(-1) ?? 0); index++) {
            expect(now.has(index)).to.equal(true);
          }
          expect([...now].every((index) => before.has(index))).to.equal(true);
          expect(planRestore(left, { kind: "latest" }).end.index).to.equal(ends.at(-1));
          before = now;
        }
      },
    );
    fc.assert(property, { numRuns: 200 });
  });

  it("refuses an invalid policy", () => {
    for (const [policy, field] of [
      [{ keepSnapshots: 0 }, "keepSnapshots"],
      [{ keepSnapshots: 1.5 }, "keepSnapshots"],
      [{ keepMs: -1 }, "keepMs"],
    ] as const) {
      expect(() => planRetention(catalog, policy, nowMs)).to.throw(field);
    }
  });

  it("deletes one snapshot with the segments that only it leads to, but never the last one", () => {
    const split = catalogOf(CLUSTER, [...archive([10, 40], [20, 30], 10), ...archive([], [50], 40)]);
    const oldest = split.snapshots[0]?.name ?? "";
    expect(indexesOf(planDeletion(catalog, catalog.snapshots[1]?.name ?? ""))).to.deep.equal(["s30"]);
    // Its segments do not reach the other snapshot: the first one joins them by its index.
    expect(indexesOf(planDeletion(split, oldest))).to.deep.equal(["21-30", "11-20", "s10"]);
    const gap = catalogOf(CLUSTER, [...archive([10], [20], 10), ...archive([30], [40], 30)]);
    const newest = gap.snapshots[1]?.name ?? "";
    expect(() => planDeletion(gap, newest)).to.throw("only snapshot from which entries 21 to 40 can be restored");
    expect(indexesOf(planDeletion(gap, newest, { allowLast: true }))).to.deep.equal(["31-40", "s30"]);
    const last = catalogOf(CLUSTER, archive([10], [20], 10));
    expect(indexesOf(planDeletion(last, last.snapshots[0]?.name ?? "", { allowLast: true }))).to.deep.equal([
      ...["11-20", "s10"],
    ]);
    expect(() => planDeletion(last, last.snapshots[0]?.name ?? "")).to.throw("last snapshot");
    expect(() => planDeletion(last, "none")).to.throw("no snapshot of this name");
  });

  describe("in a store", () => {
    it("continues after a crash at any step", async () => {
      for (let crash = 0; crash <= 7; crash++) {
        const store = await DirectoryStore.open({ directory: temporaryDirectory(), create: false });
        for (const { name } of objects) {
          await store.put(name, chunked(Buffer.from("0123456789")));
        }
        let left = crash;
        const plan = planRetention(await readCatalog(store), { keepSnapshots: 2 }, nowMs);
        const failing = Object.create(store, {
          delete: {
            async value(name: string) {
              if (left === 0) {
                throw new StoreFailure({
                  kind: "unreachable",
                  store: "x",
                  operation: `delete ${name}`,
                  reason: "gone",
                });
              }
              left -= 1;
              await store.delete(name);
            },
          },
        });
        const deleted: string[] = [];
        const error = await deletePlanned(failing, plan, (name) => deleted.push(name)).catch(
          (reason: unknown) => reason,
        );
        expect(error instanceof StoreFailure).to.equal(crash < 7);
        expect(deleted).to.deep.equal(plan.deletions.slice(0, crash).map(({ name }) => name));
        await deletePlanned(store, planRetention(await readCatalog(store), { keepSnapshots: 2 }, nowMs));
        const after = await readCatalog(store);
        expect(after.snapshots.map(({ index }) => index)).to.deep.equal([50, 70]);
        expect(after.segments.map(({ firstIndex }) => firstIndex)).to.deep.equal([51, 61, 71]);
      }
    });

    it("touches nothing that is not a backup of this cluster", async () => {
      const store = await DirectoryStore.open({ directory: temporaryDirectory(), create: false });
      await store.put(`${CLUSTER}/segments/notes`, chunked(Buffer.from("x")));
      await store.put(`${CLUSTER}/index.json`, chunked(Buffer.from("x")));
      for (const { name } of objects) {
        await store.put(name, chunked(Buffer.from("x")));
      }
      await deletePlanned(store, planRetention(await readCatalog(store), {}, nowMs));
      expect(await codeOf(readCatalog(store, "no-uuid"))).to.equal("bad-argument");
      const names: string[] = [];
      for await (const { name } of store.list("")) {
        names.push(name);
      }
      expect(names)
        .to.include.members([`${CLUSTER}/segments/notes`, `${CLUSTER}/index.json`])
        .and.have.length(4);
    });
  });
});
