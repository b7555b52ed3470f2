import { randomBytes } from "node:crypto";
import { copyFileSync, readFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { temporaryDirectory } from "../../../testing/index.ts";
import {
  backupErrorOf,
  CLUSTER,
  codeOf,
  entriesOf,
  flatten,
  flipped,
  OTHER_CLUSTER,
  type Previous,
  rowsOf,
  START_MS,
  segmentHeader,
  snapshotHeader,
} from "../../test/index.ts";
import { KeyRing } from "../envelope/index.ts";
import type { BackupErrorCode, SegmentHeader } from "../format/index.ts";
import { type BackupStore, DirectoryStore } from "../store/index.ts";
import { type Catalog, listClusters, readCatalog } from "./catalog.ts";
import type { Chain } from "./chain.ts";
import { readChain } from "./chain-reader.ts";
import { type ChainVerification, verifyChain } from "./chain-verification.ts";
import { putHint, readHint } from "./hint.ts";
import { planRestore } from "./restore-plan.ts";
import { SnapshotFile } from "./snapshot-file.ts";
import { type PutObject, putSegment, putSnapshot } from "./stored-objects.ts";

const KEYS = new KeyRing([{ id: "k", bytes: randomBytes(32) }]);

describe("chain of backups", () => {
  let directory: string;
  let store: BackupStore;

  beforeEach(async () => {
    directory = temporaryDirectory();
    store = await DirectoryStore.open({ directory, create: false });
  });

  async function snapshotAt(index: number, clusterId = CLUSTER): Promise<PutObject & Previous> {
    const header = snapshotHeader(index, { clusterId });
    return { ...(await putSnapshot(store, header, [rowsOf(5)], KEYS)), id: header.id };
  }

  async function segmentOf(
    first: number,
    last: number,
    previous: Previous,
    options: Partial<SegmentHeader> = {},
  ): Promise<PutObject & Previous> {
    const header = segmentHeader(first, last, previous, options);
    return { ...(await putSegment(store, header, [entriesOf(first, last)], KEYS)), id: header.id };
  }

  /** A snapshot at 10, and segments of ten entries up to this index. */
  async function chainTo(end: number): Promise<(PutObject & Previous)[]> {
    const objects = [await snapshotAt(10)];
    for (let index = 11; index <= end; index += 10) {
      objects.push(await segmentOf(index, index + 9, objects.at(-1) as Previous));
    }
    return objects;
  }

  function pathOf(object: PutObject | undefined): string {
    return join(directory, object?.name ?? "");
  }

  async function verified(catalog?: Catalog): Promise<ChainVerification> {
    const { chains } = catalog ?? (await readCatalog(store, CLUSTER));
    return verifyChain(store, chains[0] ?? expect.fail("no chain"), { keyRing: KEYS });
  }

  async function problemOf(
    catalog?: Catalog,
  ): Promise<{ code: BackupErrorCode | undefined; object: string | undefined }> {
    const { problem } = await verified(catalog);
    return { code: problem?.code, object: problem?.object };
  }

  async function entriesRead(plan: Parameters<typeof readChain>[1]): Promise<number[]> {
    const indexes: number[] = [];
    for await (const part of readChain(store, plan, { keyRing: KEYS })) {
      if (part.kind === "segment") {
        indexes.push(...(await flatten(part.entries)).map(({ index }) => index));
      }
    }
    return indexes;
  }

  it("is found from names alone, whole, and verified from its bytes", async () => {
    await chainTo(40);
    await putHint(store, CLUSTER, { clusterName: "sample", quoinVersion: "0.1.0" });
    const catalog = await readCatalog(store);
    expect(catalog).to.include({ clusterId: CLUSTER }).and.deep.include({ problems: [] });
    const [chain] = catalog.chains;
    expect(chain?.segments.map(({ firstIndex }) => firstIndex)).to.deep.equal([11, 21, 31]);
    expect(chain?.end).to.deep.equal({ index: 40, revision: 40, wallMs: START_MS + 40_000 });
    const seen: string[] = [];
    const { chains } = catalog;
    const result = await verifyChain(store, chains[0] ?? expect.fail(), {
      keyRing: KEYS,
      onProgress: ({ objects, objectsTotal, rows, entries }) => {
        seen.push(`${objects}/${objectsTotal}, ${rows} and ${entries}`);
      },
    });
    expect(result).to.deep.equal({ problem: undefined, objects: 4, rows: 5, entries: 30, lastIndex: 40 });
    expect(seen).to.deep.equal([
      ...["0/4, 0 and 0", "0/4, 5 and 0", "1/4, 5 and 0", "1/4, 5 and 10"],
      ...["2/4, 5 and 10", "2/4, 5 and 20", "3/4, 5 and 20", "3/4, 5 and 30"],
    ]);
  });

  it("is read in order, and checked completely even if its consumer stops early", async () => {
    const [, segment] = await chainTo(20);
    const plan = planRestore(await readCatalog(store), { kind: "latest" });
    expect(await entriesRead(plan)).to.deep.equal([11, 12, 13, 14, 15, 16, 17, 18, 19, 20]);
    writeFileSync(pathOf(segment), flipped(readFileSync(pathOf(segment)), statSync(pathOf(segment)).size - 1));
    const kinds: string[] = [];
    const reading = (async () => {
      for await (const { kind } of readChain(store, plan, { keyRing: KEYS })) {
        kinds.push(kind);
      }
    })();
    expect(await codeOf(reading)).to.equal("damaged");
    expect(kinds[0]).to.equal("snapshot");
  });

  it("with a flipped byte, a cut tail, or a missing object is refused with the name of the object", async () => {
    const objects = await chainTo(40);
    const catalog = await readCatalog(store);
    for (const object of objects) {
      const path = pathOf(object);
      const bytes = readFileSync(path);
      for (const position of [9, 60, 100, bytes.length >> 1, bytes.length - 1]) {
        writeFileSync(path, flipped(bytes, position));
        const { code, object: name } = await problemOf(catalog);
        expect(name).to.equal(object.name);
        expect(code).to.be.oneOf(["damaged", "cut-off"]);
      }
      writeFileSync(path, bytes);
      truncateSync(path, bytes.length - 1);
      expect((await problemOf(catalog)).object).to.equal(object.name);
      rmSync(path);
      expect(await problemOf(catalog)).to.deep.equal({ code: "gap", object: object.name });
      writeFileSync(path, bytes);
    }
    expect((await verified(catalog)).problem).to.equal(undefined);
  });

  it("reports up to which index it can be restored", async () => {
    const objects = await chainTo(40);
    truncateSync(pathOf(objects[2]), 100);
    expect(await verified()).to.deep.include({ objects: 2, rows: 5, entries: 10, lastIndex: 20 });
    truncateSync(pathOf(objects[0]), 100);
    expect(await verified()).to.deep.include({ objects: 0, rows: 0, entries: 0, lastIndex: undefined });
  });

  it("with swapped segments is refused", async () => {
    const objects = await chainTo(30);
    const [first, second] = [pathOf(objects[1]), pathOf(objects[2])];
    renameSync(first, `${first}.x`);
    renameSync(second, first);
    renameSync(`${first}.x`, second);
    expect(await problemOf()).to.deep.equal({ code: "misplaced", object: objects[1]?.name });
  });

  it("with an object of another cluster is refused", async () => {
    const objects = await chainTo(20);
    const foreign = segmentHeader(11, 20, objects[0] as Previous, { clusterId: OTHER_CLUSTER });
    const { name } = await putSegment(store, foreign, [entriesOf(11, 20)], KEYS);
    copyFileSync(join(directory, name), pathOf(objects[1]));
    expect(await problemOf()).to.deep.equal({ code: "foreign-cluster", object: objects[1]?.name });
  });

  it("with an unencrypted object is refused with keys, unless that is allowed", async () => {
    const header = snapshotHeader(10);
    const { name } = await putSnapshot(store, header, [rowsOf(5)], undefined);
    expect(await problemOf()).to.deep.equal({ code: "not-sealed", object: name });
    const { chains } = await readCatalog(store);
    const chain = chains[0] ?? expect.fail();
    expect((await verifyChain(store, chain, {})).problem).to.equal(undefined);
    expect((await verifyChain(store, chain, { keyRing: KEYS, allowsUnencrypted: true })).problem).to.equal(undefined);
  });

  it("whose hashes do not match is refused", async () => {
    const snapshot = await snapshotAt(10);
    const segment = await segmentOf(11, 20, { id: snapshot.id, hash: Buffer.alloc(32, 1) });
    expect(await problemOf()).to.deep.equal({ code: "broken-chain", object: segment.name });
  });

  it("whose terms do not match is refused: its objects are not of one log", async () => {
    const header = snapshotHeader(15, { term: 9 });
    const snapshot = await putSnapshot(store, header, [rowsOf(5)], KEYS);
    const segment = await segmentOf(11, 20, { ...snapshot, id: "0".repeat(32) });
    expect(await problemOf()).to.deep.equal({ code: "broken-chain", object: segment.name });
  });

  it("ends before a missing segment, which is named", async () => {
    const objects = await chainTo(40);
    rmSync(pathOf(objects[2]));
    const catalog = await readCatalog(store);
    expect(catalog.chains[0]?.end.index).to.equal(20);
    expect(catalog.problems.map(({ kind, name }) => [kind, name])).to.deep.equal([
      ["missing-previous", objects[3]?.name],
    ]);
    const error = await backupErrorOf(
      Promise.resolve().then(() => planRestore(catalog, { kind: "revision", revision: 35 })),
    );
    expect(error.code).to.equal("no-such-point");
    expect(error.message)
      .to.contain("revision 10 (index 10)")
      .and.contain("revision 20 (index 20)")
      .and.contain(objects[3]?.name);
  });

  it("ends before a segment that names the one before it but skips entries", async () => {
    const [snapshot] = await chainTo(10);
    const segment = await segmentOf(13, 20, snapshot as Previous);
    const catalog = await readCatalog(store);
    expect(catalog.problems.map(({ kind, name }) => [kind, name])).to.deep.equal([["gap", segment.name]]);
    expect(catalog.chains[0]?.segments).to.deep.equal([]);
    const forced = { ...catalog, chains: [{ ...(catalog.chains[0] ?? expect.fail()), segments: catalog.segments }] };
    expect(await problemOf(forced)).to.deep.equal({ code: "gap", object: segment.name });
  });

  it("takes the path of a fork that reaches further", async () => {
    const [snapshot] = await chainTo(20);
    const other = await segmentOf(11, 15, snapshot as Previous);
    const further = await segmentOf(16, 60, other);
    const catalog = await readCatalog(store);
    expect(catalog.problems.map(({ kind }) => kind)).to.deep.equal(["fork"]);
    expect(catalog.chains[0]?.segments.map(({ name }) => name)).to.deep.equal([other.name, further.name]);
    expect((await verified(catalog)).problem).to.equal(undefined);
    rmSync(pathOf(further));
    expect((await readCatalog(store)).chains[0]?.end.index).to.equal(20);
  });

  it("continues after a later snapshot, and later snapshots join it", async () => {
    const objects = await chainTo(40);
    await snapshotAt(25);
    const second = await snapshotAt(40);
    await segmentOf(41, 50, second);
    const catalog = await readCatalog(store);
    expect(catalog.chains.map(({ segments }) => segments.map(({ firstIndex }) => firstIndex))).to.deep.equal([
      [11, 21, 31, 41],
      [21, 31, 41],
      [41],
    ]);
    for (const chain of catalog.chains) {
      expect((await verifyChain(store, chain, { keyRing: KEYS })).problem).to.equal(undefined);
      expect((await entriesRead(chain))[0]).to.equal(chain.snapshot.index + 1);
      expect((await entriesRead(chain)).at(-1)).to.equal(50);
    }
    expect(objects).to.have.length(4);
  });

  it("misses no object that retention deleted before the snapshot that joins it", async () => {
    const objects = await chainTo(40);
    await snapshotAt(25);
    // Retention deletes the old snapshot, and the segment that only it needs.
    rmSync(pathOf(objects[0]));
    rmSync(pathOf(objects[1]));
    const kept = await readCatalog(store);
    expect([kept.problems, kept.chains.map(({ end }) => end.index)]).to.deep.equal([[], [40]]);
    // The ranges before and after a lost segment are shown, although a snapshot joins the one after it.
    await snapshotAt(10);
    const refused = await backupErrorOf(
      readCatalog(store).then((catalog) => planRestore(catalog, { kind: "revision", revision: 15 })),
    );
    expect(refused.message).to.contain("The objects between these ranges are missing");
  });

  it("is planned from the newest snapshot that reaches the point", async () => {
    await chainTo(40);
    const second = await snapshotAt(40);
    await segmentOf(41, 50, second);
    const catalog = await readCatalog(store);
    const indexesOf = (point: Parameters<typeof planRestore>[1]): number[] => {
      const { snapshot, segments } = planRestore(catalog, point);
      return [snapshot.index, ...segments.map(({ lastIndex }) => lastIndex)];
    };
    const at = (index: number, moreMs = 0) => ({ kind: "time", wallMs: START_MS + index * 1000 + moreMs }) as const;
    expect(indexesOf({ kind: "latest" })).to.deep.equal([40, 50]);
    expect(indexesOf({ kind: "revision", revision: 10 })).to.deep.equal([10]);
    expect(indexesOf({ kind: "revision", revision: 20 })).to.deep.equal([10, 20]);
    expect(indexesOf({ kind: "revision", revision: 21 })).to.deep.equal([10, 20, 30]);
    expect(indexesOf({ kind: "revision", revision: 40 })).to.deep.equal([40]);
    expect(indexesOf({ kind: "revision", revision: 50 })).to.deep.equal([40, 50]);
    // At the very end of a segment, the next one may begin in the same millisecond.
    expect(indexesOf(at(20))).to.deep.equal([10, 20, 30]);
    expect(indexesOf(at(19, 999))).to.deep.equal([10, 20]);
    expect(indexesOf(at(50))).to.deep.equal([40, 50]);
    for (const point of [
      at(9),
      at(50, 1),
      { kind: "revision", revision: 9 },
      { kind: "revision", revision: 51 },
    ] as const) {
      const error = await backupErrorOf(Promise.resolve().then(() => planRestore(catalog, point)));
      expect(error.code).to.equal("no-such-point");
      expect(error.message).to.contain("revision 10 (index 10)").and.contain("revision 50 (index 50)");
    }
  });

  it("is planned from the named snapshot, and never to an end before segments after a missing object", async () => {
    const [, , missing] = await chainTo(40);
    const second = await snapshotAt(25);
    const whole = await readCatalog(store);
    expect(planRestore(whole, { kind: "latest" }).snapshot.index).to.equal(25);
    const oldest = whole.snapshots[0]?.id;
    expect(planRestore(whole, { kind: "latest" }, oldest).segments).to.have.length(3);
    const unknown = await backupErrorOf(
      Promise.resolve().then(() => planRestore(whole, { kind: "latest" }, "f".repeat(32))),
    );
    expect([unknown.code, unknown.message.includes(second.id)]).to.deep.equal(["no-backup", true]);
    rmSync(pathOf(second));
    rmSync(pathOf(missing as PutObject));
    const broken = await readCatalog(store);
    const refusal = await backupErrorOf(Promise.resolve().then(() => planRestore(broken, { kind: "latest" })));
    expect(refusal.code).to.equal("gap");
    expect(refusal.message)
      .to.contain("entries 21 to 30 are missing, so 1 segments after them")
      .and.contain("revision 20");
    expect(planRestore(broken, { kind: "revision", revision: 20 }).segments).to.have.length(1);
  });

  it("of one snapshot in a file is read like any other, and never written", async () => {
    const { name } = await snapshotAt(10);
    const path = join(directory, "a file of any name");
    copyFileSync(join(directory, name), path);
    expect(await SnapshotFile.exists(path)).to.equal(true);
    for (const other of [directory, join(directory, "missing"), join(path, "below")]) {
      expect(await SnapshotFile.exists(other), other).to.equal(false);
    }
    const file = await SnapshotFile.open(path, { keyRing: KEYS });
    const catalog = await readCatalog(file);
    expect(planRestore(catalog, { kind: "latest" }).end.index).to.equal(10);
    expect((await verifyChain(file, catalog.chains[0] as Chain, { keyRing: KEYS })).problem).to.equal(undefined);
    expect(await codeOf(SnapshotFile.open(path, {}))).to.equal("key-missing");
    expect(await codeOf(file.get("other"))).to.equal("no-backup");
    for (const write of [file.put(), file.delete(), file.sweep()]) {
      expect((await backupErrorOf(write)).message).to.contain("is one snapshot, and is read-only");
    }
  });

  it("is planned to its end if writers did not know revisions and clocks", async () => {
    const snapshot = await snapshotAt(10);
    await segmentOf(11, 20, snapshot, { firstRevision: undefined, lastRevision: undefined, lastWallMs: undefined });
    const catalog = await readCatalog(store);
    expect(planRestore(catalog, { kind: "revision", revision: 15 }).segments).to.have.length(1);
    expect(planRestore(catalog, { kind: "time", wallMs: START_MS + 15_000 }).segments).to.have.length(1);
    expect((await verified(catalog)).problem).to.equal(undefined);
  });

  it("is found only for the requested cluster", async () => {
    expect(await codeOf(readCatalog(store))).to.equal("no-backup");
    await chainTo(20);
    await snapshotAt(7, OTHER_CLUSTER);
    expect(await listClusters(store)).to.deep.equal([CLUSTER, OTHER_CLUSTER]);
    const error = await backupErrorOf(readCatalog(store));
    expect([error.code, error.message]).to.deep.equal([
      "no-backup",
      `${store.describe()} has backups of several clusters: ${CLUSTER}, ${OTHER_CLUSTER}. Name one of them`,
    ]);
    expect((await readCatalog(store, OTHER_CLUSTER)).chains.map(({ end }) => end.index)).to.deep.equal([7]);
    expect(await codeOf(readCatalog(store, "../.."))).to.equal("bad-argument");
    const empty = await readCatalog(store, CLUSTER.replace("1", "2"));
    expect(() => planRestore(empty, { kind: "latest" })).to.throw("no snapshot");
  });

  it("skips objects that are not backups, and reports them", async () => {
    await chainTo(20);
    writeFileSync(join(directory, CLUSTER, "segments", "notes.txt"), "x");
    writeFileSync(join(directory, CLUSTER, "segments", "0000000000000001-x.qseg"), "x");
    const { chains, problems } = await readCatalog(store);
    expect(chains[0]?.end.index).to.equal(20);
    expect(problems.map(({ kind }) => kind)).to.deep.equal(["unknown-object", "unknown-object"]);
  });

  it("has a hint beside it, on which nothing depends", async () => {
    expect(await readHint(store, CLUSTER)).to.equal(undefined);
    await putHint(store, CLUSTER, { clusterName: "sample", quoinVersion: "0.1.0" });
    expect(await readHint(store, CLUSTER)).to.deep.equal({ clusterName: "sample", quoinVersion: "0.1.0" });
    for (const text of ["", "{", "null", "{}", '{"clusterName":1,"quoinVersion":""}', "x".repeat(100_000)]) {
      writeFileSync(join(directory, CLUSTER, "index.json"), text);
      expect(await readHint(store, CLUSTER), text.slice(0, 50)).to.equal(undefined);
    }
  });
});
