import { join } from "node:path";
import {
  BackupError,
  type BackupStore,
  type Entry,
  openSegment,
  planRestore,
  putSegment,
  readCatalog,
  type SegmentHeader,
  type StoredSegment,
} from "@quoin/backup";
import { expect } from "chai";
import { ArchivedCluster, MemoryBackupStore, temporaryDirectory } from "../../test/harness/index.ts";
import { OfflineState } from "../storage/index.ts";
import { type Rebuilt, rebuild } from "./rebuild.ts";

const LATEST = { kind: "latest" } as const;

describe("a rebuilt state", function () {
  this.timeout(30_000);
  let archived: ArchivedCluster;
  let store: BackupStore;

  beforeEach(async () => {
    archived = new ArchivedCluster({});
    store = new MemoryBackupStore(archived.bucket);
    await archived.untilArchived();
    for (let segments = 1; segments <= 3; segments++) {
      await archived.untilArchived(archived.write(5));
    }
  });

  afterEach(() => archived.end());

  async function rebuilt(): Promise<Rebuilt> {
    const state = await OfflineState.create(join(temporaryDirectory(), "state"));
    const objects = planRestore(await readCatalog(store), LATEST);
    return rebuild({ store, objects, decryptOptions: {}, point: LATEST, state }).finally(() => state.close());
  }

  async function refusal(): Promise<BackupError> {
    const error = await rebuilt().catch((reason: unknown) => reason);
    return error instanceof BackupError ? error : expect.fail(`it was rebuilt, or failed otherwise: ${error}`);
  }

  async function segments(): Promise<readonly StoredSegment[]> {
    return (await readCatalog(store)).segments;
  }

  /** Writes the segment again with another header. */
  async function rewrite(segment: StoredSegment, change: Partial<SegmentHeader>): Promise<void> {
    const reading = await openSegment(store, segment, {});
    const entries: Entry[] = [];
    for await (const batch of reading.batches) {
      entries.push(...batch.map(({ index, term, bytes }) => ({ index, term, bytes: bytes.slice() })));
    }
    await putSegment(store, { ...reading.header, ...change }, [entries], undefined);
  }

  it("has the digests that the cluster had at the end of each object", async () => {
    const { progress, digestsCompared } = await rebuilt();
    const last = (await segments()).at(-1) ?? expect.fail("no segment");
    const { stateDigest } = (await openSegment(store, last, {})).header;
    expect([progress.appliedIndex, progress.digest]).to.deep.equal([last.lastIndex, stateDigest]);
    expect(digestsCompared).to.equal((await segments()).length + 1);
  });

  it("is refused if its digest differs from that of the cluster", async () => {
    const last = (await segments()).at(-1) ?? expect.fail("no segment");
    const { stateDigest = 0 } = (await openSegment(store, last, {})).header;
    await rewrite(last, { stateDigest: (stateDigest + 1) % 2 ** 32 });
    const refused = await refusal();
    expect([refused.code, refused.object]).to.deep.equal(["damaged", last.name]);
    expect(refused.message).to.match(/has the digest [0-9a-f]{8}, and the cluster had [0-9a-f]{8}/);
  });

  it("is refused if another segment of the same name has replaced one", async () => {
    const [first, second] = await segments();
    await rewrite(first ?? expect.fail("no segment"), { quoinVersion: "0.1.1" });
    const refused = await refusal();
    expect([refused.code, refused.object]).to.deep.equal(["broken-chain", second?.name]);
  });

  it("is refused if a segment in the middle is missing", async () => {
    const [first, second, ...others] = await segments();
    await store.delete(second?.name ?? "");
    const refused = await refusal();
    expect([refused.code, refused.object]).to.deep.equal(["gap", others[0]?.name]);
    expect(refused.message).to.include(`entries ${(first?.lastIndex ?? 0) + 1} to ${second?.lastIndex} are missing`);
    const { problems } = await readCatalog(store);
    expect(problems.map(({ kind, name }) => [kind, name])).to.deep.equal([["missing-previous", others[0]?.name]]);
  });
});
