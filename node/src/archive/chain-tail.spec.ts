import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  BackupError,
  type BackupStore,
  KeyRing,
  newObjectId,
  openStore,
  putSegment,
  putSnapshot,
  type SegmentHeader,
} from "@quoin/backup";
import { expect } from "chai";
import { temporaryDirectory } from "../../test/harness/index.ts";
import { findTail, isDamage } from "./chain-tail.ts";

const CLUSTER = "11111111-2222-4333-8444-555555555555";
const ORIGIN = { clusterId: CLUSTER, clusterName: "spec", quoinVersion: "0.1.0", clusterVersion: 1 };
const KEYS = new KeyRing([{ id: "one", bytes: randomBytes(32) }]);
const OTHER_KEYS = new KeyRing([{ id: "two", bytes: randomBytes(32) }]);

/** The log still has its first entry. */
const ALL_IN_LOG = 1;

describe("the end of an archive", () => {
  let directory: string;
  let store: BackupStore;
  let previous: { readonly id: string; readonly hash: Uint8Array };

  beforeEach(async () => {
    directory = temporaryDirectory();
    store = await openStore({ kind: "directory", directory }, { create: false });
  });

  async function snapshot(index: number): Promise<void> {
    const id = newObjectId();
    const header = { ...ORIGIN, id, index, term: 2, revision: index + 100, tickMs: 0, wallMs: index, stateDigest: 1 };
    const rows = [{ key: Buffer.from("key"), value: Buffer.from("value") }];
    const { hash } = await putSnapshot(store, header, [rows], KEYS);
    previous = { id, hash };
  }

  async function segment(firstIndex: number, lastIndex: number, more: Partial<SegmentHeader> = {}): Promise<void> {
    const header: SegmentHeader = {
      ...ORIGIN,
      id: newObjectId(),
      firstIndex,
      lastIndex,
      firstTerm: firstIndex === lastIndex ? 3 : 2,
      lastTerm: 3,
      lastRevision: lastIndex + 100,
      lastWallMs: lastIndex * 10,
      previousId: previous.id,
      previousHash: previous.hash,
      ...more,
    };
    const entries = Array.from({ length: lastIndex - firstIndex + 1 }, (_, at) => {
      return { index: firstIndex + at, term: firstIndex + at === lastIndex ? 3 : 2, bytes: Buffer.from("entry") };
    });
    const { hash } = await putSegment(store, header, [entries], KEYS);
    previous = { id: header.id, hash };
  }

  const find = (keyRing: KeyRing | undefined = KEYS, firstIndex = ALL_IN_LOG) =>
    findTail({ store, keyRing }, CLUSTER, firstIndex);

  /** Flips the last bit of the newest object of this kind. */
  function damage(kind: "snapshots" | "segments"): void {
    const folder = join(directory, CLUSTER, kind);
    const file = join(folder, readdirSync(folder).sort().at(-1) ?? "");
    const bytes = readFileSync(file);
    bytes[bytes.length - 1] = (bytes.at(-1) as number) ^ 1;
    writeFileSync(file, bytes);
  }

  async function refusal(keyRing?: KeyRing): Promise<unknown> {
    return find(keyRing).then(
      () => expect.fail("it is usable"),
      (error: unknown) => error,
    );
  }

  it("does not exist in an empty store, or in one of another cluster", async () => {
    expect(await find()).to.deep.equal({ tail: null, snapshotMs: 0, missing: undefined });
    await snapshot(10);
    const other = await findTail({ store, keyRing: KEYS }, "99999999-2222-4333-8444-555555555555", ALL_IN_LOG);
    expect(other).to.deep.equal({ tail: null, snapshotMs: 0, missing: undefined });
  });

  it("is that of a snapshot without a following object", async () => {
    await snapshot(10);
    const { tail, snapshotMs } = await find();
    const { id, hash } = previous;
    expect(tail).to.deep.equal({ index: 10, term: 2, revision: 110, wallMs: 10, id, hash, chainIndex: 10 });
    expect(snapshotMs).to.be.greaterThan(0);
  });

  it("is that of the last segment, by its header and its hash", async () => {
    await snapshot(10);
    await segment(11, 20);
    await segment(21, 30);
    const { id, hash } = previous;
    const expected = { index: 30, term: 3, revision: 130, wallMs: 300, id, hash, chainIndex: 10 };
    expect((await find()).tail).to.deep.equal(expected);
    await segment(31, 31, { lastRevision: undefined, lastWallMs: undefined });
    expect((await find()).tail).to.deep.include({ index: 31, revision: 0, wallMs: 0 });
  });

  it("is that of the chain that reaches furthest, also if a later snapshot exists", async () => {
    await snapshot(10);
    await segment(11, 40);
    const last = previous;
    await snapshot(30);
    expect((await find()).tail).to.deep.include({ index: 40, id: last.id, chainIndex: 10 });
  });

  it("is before a lone snapshot while the log has the entries between, so that no moment is left out", async () => {
    await snapshot(10);
    await segment(11, 20);
    const { id: before } = previous;
    await snapshot(30);
    const { id: alone } = previous;
    expect((await find(KEYS, 21)).tail).to.deep.include({ index: 20, id: before });
    expect((await find(KEYS, 22)).tail).to.deep.include({ index: 30, id: alone });
  });

  it("is that of a later lone snapshot if the log lacks the entries between, and names the missing entries", async () => {
    await snapshot(10);
    await segment(11, 30);
    const last = previous;
    await snapshot(35);
    await snapshot(40);
    expect((await find()).tail).to.deep.include({ index: 30, id: last.id });
    expect((await find()).missing).to.equal(undefined);
    const found = await findTail({ store, keyRing: KEYS }, CLUSTER, 32);
    expect(found.tail).to.deep.include({ index: 35 });
    expect(found.missing).to.deep.equal({ firstIndex: 31, lastIndex: 35 });
  });

  it("is not after a segment that follows nothing", async () => {
    await snapshot(10);
    const { id } = previous;
    await segment(15, 20);
    expect((await find()).tail).to.deep.include({ index: 10, id });
  });

  it("is not usable if its last object is damaged; a new snapshot helps", async () => {
    await snapshot(10);
    damage("snapshots");
    expect(isDamage(await refusal())).to.equal(true);
    await snapshot(20);
    await segment(21, 30);
    damage("segments");
    const error = await refusal();
    expect(isDamage(error)).to.equal(true);
    expect(String(error)).to.include(".qseg");
  });

  it("is that of a lone snapshot if the chain before it is damaged, so that no further snapshot is taken", async () => {
    await snapshot(10);
    await segment(11, 15);
    damage("segments");
    await snapshot(20);
    expect((await find()).tail).to.deep.include({ index: 20 });
  });

  it("cannot be read without its key; a new snapshot does not help", async () => {
    await snapshot(10);
    for (const keyRing of [undefined, OTHER_KEYS]) {
      const error = await findTail({ store, keyRing }, CLUSTER, ALL_IN_LOG).catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(BackupError);
      expect(isDamage(error)).to.equal(false);
    }
  });
});
