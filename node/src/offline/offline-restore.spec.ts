import {
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { crc32 } from "node:zlib";
import {
  BackupError,
  type ChainEnd,
  openStore,
  parseLocation,
  planRestore,
  putSegment,
  putSnapshot,
  readCatalog,
  readSegment,
  readSnapshot,
  StoreFailure,
} from "@quoin/backup";
import { expect } from "chai";
import { temporaryDirectory } from "../../test/harness/index.ts";
import { UsageError } from "../command-line/index.ts";
import { type SourceFlags, sourceOf } from "../process/index.ts";
import { getKey, readCluster, readFormerCluster, readProgress } from "../state/index.ts";
import { type MemberData, openDataDirectory, Refused, StoreError } from "../storage/index.ts";
import { restoreInto } from "./offline-restore.ts";

const GOLDEN = fileURLToPath(new URL("../../test/golden/0.1.0/backup", import.meta.url));
const KEY_FILE = join(GOLDEN, "TEST-KEY-not-secret.txt");
const CLUSTER = "60000000-0000-4000-8000-00000000601d";
const OTHER = "61111111-1111-4111-8111-11111111601d";
const MEMBER = { name: "q-0", clusterName: "restored" };
const JUMP = { revisionJump: 1_000_000, keepsSigningKeys: false };

describe("the restore of a backup into a directory", function () {
  this.timeout(60_000);
  let directory: string;
  let store: string;
  /** The content of the archive: a snapshot, and two segments after it. */
  let first: { readonly index: number; readonly revision: number };
  let middle: ChainEnd;
  let last: ChainEnd;

  beforeEach(() => {
    directory = join(temporaryDirectory(), "data");
    store = join(temporaryDirectory(), "store");
    cpSync(join(GOLDEN, "plain"), store, { recursive: true });
  });
  before(async () => {
    const opened = await openStore({ kind: "directory", directory: join(GOLDEN, "plain") }, { create: false });
    const { snapshot, segments, end } = planRestore(await readCatalog(opened), { kind: "latest" });
    [first, last] = [snapshot, end];
    const { lastIndex: index = 0, lastRevision: revision, lastWallMs: wallMs } = segments[0] ?? {};
    middle = { index, revision, wallMs };
  });

  function restore(flags: SourceFlags & { readonly newClusterId?: string } = {}, from = store) {
    return restoreInto(directory, { ...sourceOf(parseLocation(from), flags), ...JUMP }, { ...MEMBER, ...flags });
  }

  async function failureOf(flags: SourceFlags & { readonly newClusterId?: string } = {}, from = store): Promise<Error> {
    const failure = await restore(flags, from).then(
      () => null,
      (error: unknown) => error,
    );
    if (failure instanceof BackupError || failure instanceof StoreFailure || failure instanceof Refused) {
      return failure;
    }
    throw failure ?? new Error("it was restored");
  }

  /**
   * The restore is refused with this code and these words, and leaves a directory that is still usable for a restore.
   */
  async function expectRefused(code: string, words: string, flags: SourceFlags = {}, from = store): Promise<void> {
    const failure = await failureOf(flags, from);
    expect(failure.message).to.contain(words);
    expect(failure instanceof BackupError ? failure.code : "none", failure.message).to.equal(code);
    expect(readdirSync(directory)).to.deep.equal(["successor-lock"]);
    const { clusterId } = await restore({}, join(GOLDEN, "plain"));
    expect((await identityOf()).clusterId).to.equal(clusterId);
  }

  async function withMember<T>(use: (data: MemberData) => T): Promise<T> {
    const opened = await openDataDirectory({
      directory,
      ...MEMBER,
      acceptMissingFence: false,
      onFatal: (error) => {
        throw error;
      },
    });
    expect(opened.phase).to.equal("member");
    const { data } = opened as { readonly data: MemberData };
    try {
      return use(data);
    } finally {
      await data.close();
    }
  }

  function identityOf() {
    return withMember(({ identity }) => identity);
  }

  function files(folder: "snapshots" | "segments"): string[] {
    return readdirSync(join(store, CLUSTER, folder))
      .sort()
      .map((name) => join(store, CLUSTER, folder, name));
  }

  function fileAt(folder: "snapshots" | "segments", at: number): string {
    return files(folder)[at] ?? expect.fail("there is no such object");
  }

  /** Flips a bit in the middle. */
  function flip(file: string): void {
    const bytes = readFileSync(file);
    const at = bytes.length >> 1;
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    writeFileSync(file, bytes);
  }

  async function* chunk(file: string): AsyncGenerator<Uint8Array> {
    yield readFileSync(file);
  }

  it("creates the only member of a new cluster, and reports the result", async () => {
    const { clusterId, staged, rebuilt, archiveEnd } = await restore();
    expect(clusterId).to.not.equal(CLUSTER);
    expect([staged.formerClusterId, staged.formerRevision]).to.deep.equal([CLUSTER, last.revision]);
    expect([rebuilt.segments, rebuilt.progress.revision, archiveEnd.revision]).to.deep.equal([
      ...[2, last.revision, last.revision],
    ]);
    await withMember(({ identity, state }) => {
      const cluster = readCluster(state);
      expect([identity.clusterId, cluster?.clusterId, cluster?.name]).to.deep.equal([clusterId, clusterId, "restored"]);
      expect(cluster?.configuration.voters).to.deep.equal([identity.memberId]);
      expect(readProgress(state).revision).to.equal((last.revision ?? 0) + JUMP.revisionJump);
      expect(readFormerCluster(state, CLUSTER)?.successorId).to.equal(clusterId);
      expect(Buffer.from(getKey(state, "golden", Buffer.from("behind the mark")).value).toString()).to.equal("value");
    });
  });

  it("stops at a revision, at a time, and at a snapshot in a file", async () => {
    const from = { clusterId: CLUSTER, keyFile: KEY_FILE };
    const { rebuilt } = await restore({ ...from, toRevision: first.revision + 1 }, join(GOLDEN, "sealed"));
    expect(rebuilt.progress.revision).to.equal(first.revision + 1);
    rmSync(directory, { recursive: true });
    const { wallMs } = rebuilt.progress;
    expect((await restore({ toTime: wallMs })).rebuilt.progress.wallMs).to.equal(wallMs);
    rmSync(directory, { recursive: true });
    const file = join(temporaryDirectory(), "one snapshot.bin");
    copyFileSync(fileAt("snapshots", 0), file);
    const single = await restore({}, file);
    expect([single.rebuilt.segments, single.rebuilt.progress.revision]).to.deep.equal([0, first.revision]);
    rmSync(directory, { recursive: true });
    const snapshotId = "1".padStart(32, "0");
    expect((await restore({ snapshotId })).rebuilt.snapshot.id).to.equal(snapshotId);
  });

  it("is refused for a location without a backup, or without this one", async () => {
    const empty = temporaryDirectory();
    await expectRefused("no-backup", "has no backup. Check the location", {}, empty);
    rmSync(directory, { recursive: true });
    await expectRefused("no-backup", `there is no snapshot of cluster ${OTHER}`, { clusterId: OTHER });
    rmSync(directory, { recursive: true });
    await expectRefused("no-backup", "The newest snapshots are 0000", { snapshotId: "f".repeat(32) });
    rmSync(directory, { recursive: true });
    await expectRefused("none", "there is no such directory", {}, join(empty, "missing"));
    rmSync(directory, { recursive: true });
    writeFileSync(join(empty, "text"), "this is a text, and no snapshot at all");
    await expectRefused("not-a-backup", "text", {}, join(empty, "text"));
    rmSync(directory, { recursive: true });
    cpSync(join(store, CLUSTER), join(store, OTHER), { recursive: true });
    await expectRefused("no-backup", "has backups of several clusters");
  });

  it("is refused for what is not encrypted although keys were given, unless that is allowed", async () => {
    const keyFile = KEY_FILE;
    await expectRefused("not-sealed", "check its origin", { keyFile });
    rmSync(directory, { recursive: true });
    const { rebuilt } = await restore({ keyFile, allowsUnencrypted: true });
    expect(rebuilt.progress.revision).to.equal(last.revision);
    expect(() => restore({ allowsUnencrypted: true })).to.throw("--allow-unencrypted needs --key-file");
  });

  it("is refused without the right key", async () => {
    const sealed = join(GOLDEN, "sealed");
    const keyFile = join(temporaryDirectory(), "key");
    await expectRefused("key-missing", "Give the file with that key", {}, sealed);
    for (const [id, code, words] of [
      ["golden", "key-wrong", "not the key that it was encrypted with"],
      ["other", "key-unknown", "only other was given"],
    ] as const) {
      rmSync(directory, { recursive: true });
      writeFileSync(keyFile, `${id}:${Buffer.alloc(32, 1).toString("base64")}\n`, { mode: 0o600 });
      await expectRefused(code, words, { keyFile }, sealed);
    }
  });

  it("is refused for a point before the first snapshot, or after the end", async () => {
    const words = `It can be restored to: revision ${first.revision} (index ${first.index})`;
    for (const flags of [
      { toRevision: first.revision - 1 },
      { toRevision: (last.revision ?? 0) + 1 },
      { toTime: Date.UTC(2020, 0) },
      { toTime: Date.UTC(2099, 0) },
    ]) {
      await expectRefused("no-such-point", words, flags);
      rmSync(directory, { recursive: true });
    }
    const both = { toRevision: 5, toTime: 5 };
    expect(() => sourceOf(parseLocation(store), both)).to.throw(UsageError, "exclude each other");
  });

  it("is refused for a point after the end if only the entries show the end", async () => {
    const segment = fileAt("segments", 1);
    const { header, batches } = await readSegment(chunk(segment));
    const unknown = { ...header, lastRevision: undefined, lastWallMs: undefined, stateDigest: undefined };
    const opened = await openStore({ kind: "directory", directory: store }, { create: false });
    await putSegment(opened, unknown, batches, undefined);
    rmSync(segment);
    const words = `the archive ends before that point, at revision ${last.revision}`;
    await expectRefused("no-such-point", words, { toRevision: (last.revision ?? 0) + 1 });
    rmSync(directory, { recursive: true });
    await expectRefused("no-such-point", words, { toTime: (last.wallMs ?? 0) + 1 });
    rmSync(directory, { recursive: true });
    expect((await restore({ toTime: last.wallMs ?? 0 })).rebuilt.progress.appliedIndex).to.equal(last.index);
  });

  it("is refused if a byte changed, the end is cut off, or a segment is missing", async () => {
    const spoilers = new Map<string, readonly [() => void, string, RegExp]>([
      ["a snapshot", [() => flip(fileAt("snapshots", 0)), "damaged", /\.qsnap: /]],
      ["a segment", [() => flip(fileAt("segments", 1)), "damaged", /\.qseg: /]],
      ["a cut segment", [() => truncateSync(fileAt("segments", 1), 200), "cut-off", /\.qseg: it ends/]],
      [
        "no first segment",
        [
          () => rmSync(fileAt("segments", 0)),
          "gap",
          new RegExp(`entries ${first.index + 1} to ${middle.index} are missing`),
        ],
      ],
    ]);
    for (const [what, [spoil, code, words]] of spoilers) {
      rmSync(store, { recursive: true });
      cpSync(join(GOLDEN, "plain"), store, { recursive: true });
      spoil();
      const failure = await failureOf();
      expect(failure.message, what).to.match(words);
      expect((failure as BackupError).code, failure.message).to.equal(code);
    }
    // Everything before it can still be restored.
    expect((await restore({ toRevision: first.revision })).rebuilt.progress.revision).to.equal(first.revision);
  });

  it("is refused if segments are swapped, or belong to another cluster", async () => {
    const [one, other] = [fileAt("segments", 0), fileAt("segments", 1)];
    renameSync(one, `${store}/aside`);
    renameSync(other, one);
    renameSync(`${store}/aside`, other);
    await expectRefused("misplaced", "Objects were swapped or renamed");

    rmSync(directory, { recursive: true });
    rmSync(store, { recursive: true });
    cpSync(join(GOLDEN, "plain"), store, { recursive: true });
    const { header, batches } = await readSegment(chunk(one));
    const opened = await openStore({ kind: "directory", directory: store }, { create: false });
    const { name } = await putSegment(opened, { ...header, clusterId: OTHER }, batches, undefined);
    renameSync(join(store, name), one);
    rmSync(join(store, OTHER), { recursive: true });
    await expectRefused("foreign-cluster", `it belongs to cluster ${OTHER}`);
  });

  it("is refused for rows of another cluster under a header of this one", async () => {
    const { header, batches } = await readSnapshot(chunk(fileAt("snapshots", 0)));
    const from = temporaryDirectory();
    const opened = await openStore({ kind: "directory", directory: from }, { create: false });
    await putSnapshot(opened, { ...header, clusterId: OTHER }, batches, undefined);
    await expectRefused("foreign-cluster", `its rows are those of cluster ${CLUSTER}`, {}, from);
  });

  it("is refused for a backup of a newer format, or of a newer cluster version", async () => {
    const snapshot = fileAt("snapshots", 0);
    const { header, batches } = await readSnapshot(chunk(snapshot));
    const bytes = readFileSync(snapshot);
    bytes.writeUInt16BE(2, 8);
    const headerEnd = 16 + bytes.readUInt32BE(12);
    bytes.writeUInt32BE(crc32(bytes.subarray(0, headerEnd)), headerEnd);
    writeFileSync(snapshot, bytes);
    await expectRefused("newer-format", "and this release reads formats up to 1");

    rmSync(directory, { recursive: true });
    const from = temporaryDirectory();
    const opened = await openStore({ kind: "directory", directory: from }, { create: false });
    await putSnapshot(opened, { ...header, clusterVersion: 99, quoinVersion: "9.0.0" }, batches, undefined);
    await expectRefused(
      "newer-format",
      "a cluster of version 99, written by Quoin 9.0.0, and this release knows",
      {},
      from,
    );
  });

  it("is refused over any data, which stays, and over a running member", async () => {
    mkdirSync(directory);
    writeFileSync(join(directory, "a file"), "text");
    expect((await failureOf()).message).to.contain("it is not empty. Name an empty directory");
    expect(readdirSync(directory)).to.deep.equal(["a file"]);
    rmSync(join(directory, "a file"));
    const { clusterId } = await restore();
    expect((await failureOf()).message).to.contain(`it belongs to member "q-0" of cluster ${clusterId}`);
    rmSync(directory, { recursive: true });
    const waiting = await openDataDirectory({
      directory,
      ...MEMBER,
      acceptMissingFence: false,
      onFatal: () => undefined,
    });
    const failure = await restore().catch((error: unknown) => error);
    await (waiting as { close(): Promise<void> }).close();
    expect(failure).to.be.instanceOf(StoreError).and.include({ kind: "locked" });
  });

  it("is refused with an id that a cluster has had", async () => {
    expect((await failureOf({ newClusterId: CLUSTER })).message).to.contain(
      "belongs to the former cluster, or to one before",
    );
    expect(readdirSync(directory)).to.deep.equal(["successor-lock"]);
  });
});
