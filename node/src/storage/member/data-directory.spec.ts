import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { expect } from "chai";
import { replaceEntry, rewriteLog, segmentsOf, temporaryDirectory, usedBytes } from "../../../test/harness/index.ts";
import { FOUNDING, soleVoter } from "../../../test/index.ts";
import { InvariantViolation, listenToMarks } from "../../primitives/index.ts";
import { EntryType, encodeEntry, entryIndex, entryTerm, NO_ENVELOPE, sealEntry } from "../../raft/index.ts";
import { DEFAULT_STATE_LIMITS, encodeCommand, type Founding, readProgress, StateMachine } from "../../state/index.ts";
import {
  encodeMirror,
  type HardStateMirror,
  MIRROR_FILE,
  MIRROR_SLOT_BYTES,
  mirrorOffset,
  readMirror,
  StoreError,
} from "../files/index.ts";
import { type Identity, mintIdentity, readIdentity, writeIdentity } from "../identity/index.ts";
import { Rocks } from "../rocks/index.ts";
import { type DataDirectory, type DataDirectoryOptions, openDataDirectory } from "./data-directory.ts";
import type { MemberData } from "./member-data.ts";

const NOW = { tickMs: 0, wallMs: 1_750_000_000_000 };
const ROCKS = { createIfMissing: false, memtableBytes: 4 * 1024 * 1024, cacheBytes: 1024 * 1024 };
const TICK = encodeCommand({ principal: null, request: null, operation: { kind: "tick" } });

/** The owner of a directory that opened. */
function identityOf(opened: DataDirectory): Identity {
  const identity = opened.phase === "member" ? opened.data.identity : opened.identity;
  if (identity === null) {
    throw new Error("the directory has no identity");
  }
  return identity;
}

function foundingOf({ incarnation }: Identity): Founding {
  return { ...FOUNDING, incarnation: Buffer.from(incarnation, "hex") };
}

type Refused = DataDirectory & { readonly phase: "refused" };

/** An entry that changes only the progress of the log and the state. */
function tick(term: number, index: number): Uint8Array {
  const row = encodeEntry(EntryType.Command, NO_ENVELOPE, TICK);
  sealEntry(row, term, index, crc32);
  return row;
}

/** All files below the directory with their contents, as text to compare. */
function contentOf(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => `${join(parentPath, name)} ${crc32(readFileSync(join(parentPath, name)))}`)
    .sort();
}

function fileOf(store: string, pattern: RegExp): string {
  const name = readdirSync(store).find((file) => pattern.test(file));
  if (name === undefined) {
    throw new Error(`no file in ${store} matches ${pattern}`);
  }
  return join(store, name);
}

function flip(path: string, byte: number, bit = 0): void {
  const bytes = readFileSync(path);
  bytes[byte] = (bytes[byte] as number) ^ (1 << bit);
  writeFileSync(path, bytes);
}

describe("data directory", () => {
  const openDirectories: { close(): Promise<void> }[] = [];
  let directory: string;
  let original: string | undefined;

  beforeEach(() => {
    directory = join(temporaryDirectory(), "data");
  });
  afterEach(async () => {
    listenToMarks(null);
    for (const opened of openDirectories.splice(0)) {
      await opened.close();
    }
  });

  async function open(options: Partial<DataDirectoryOptions> = {}): Promise<DataDirectory> {
    const opened = await openDataDirectory({
      directory,
      clusterName: "spec",
      name: "q-0",
      acceptMissingFence: false,
      onFatal: (error) => {
        throw error;
      },
      ...options,
    });
    if (opened.phase === "member") {
      openDirectories.push(opened.data);
    } else if (opened.phase === "empty") {
      openDirectories.push(opened);
    }
    return opened;
  }

  async function openMember(options: Partial<DataDirectoryOptions> = {}): Promise<MemberData> {
    const opened = await open(options);
    if (opened.phase !== "member") {
      throw new Error(`the directory is ${opened.phase}: ${opened.phase === "refused" ? opened.reason : ""}`);
    }
    return opened.data;
  }

  async function openRefused(options: Partial<DataDirectoryOptions> = {}): Promise<Refused> {
    const opened = await open(options);
    if (opened.phase !== "refused") {
      throw new Error(`the directory is ${opened.phase}`);
    }
    return opened;
  }

  async function openFailure(options: Partial<DataDirectoryOptions> = {}): Promise<StoreError> {
    try {
      await open(options);
    } catch (error) {
      if (error instanceof StoreError) {
        return error;
      }
      throw error;
    }
    throw new Error("the directory opened");
  }

  async function found(): Promise<MemberData> {
    const opened = await open();
    if (opened.phase !== "empty") {
      throw new Error(`the directory is ${opened.phase}`);
    }
    const data = await opened.found(foundingOf(opened.identity), NOW);
    openDirectories.splice(openDirectories.indexOf(opened), 1, data);
    return data;
  }

  async function closeAll(): Promise<void> {
    for (const opened of openDirectories.splice(0)) {
      await opened.close();
    }
  }

  /** Appends this many entries and applies the whole log. */
  async function grow(data: MemberData, count: number, firstKept = 0): Promise<void> {
    const { last } = data.log.bounds;
    const rows = Array.from({ length: count }, (_, at) => tick(data.term, last + 1 + at));
    if (firstKept > 0) {
      data.log.compact(firstKept, data.log.term(firstKept - 1));
    }
    await new Promise<void>((resolve) => {
      const writeSeq = data.log.meta.writeSeq + 1;
      data.log.write({ writeSeq, term: data.term, vote: 1, commit: last, from: last + 1, rows, resetTo: null }, () =>
        resolve(),
      );
    });
    const machine = new StateMachine(data.state, (before, bytes) => crc32(bytes, before), DEFAULT_STATE_LIMITS);
    for (let index = machine.progress.appliedIndex + 1; index <= last + count; index++) {
      machine.apply(data.log.entries(index, index, 1)[0] as Uint8Array, soleVoter);
    }
    machine.commit();
  }

  const appliedBy = (data: MemberData): number => readProgress(data.state).appliedIndex;
  const log = (): string => join(directory, "log");
  const segment = (): string => segmentsOf(directory)[0] as string;
  /** Bytes of all records of the segment; zeros follow. */
  const used = (): number => usedBytes(segment());
  const state = (): string => join(directory, "state-1");
  const mirrorFile = (): string => join(directory, MIRROR_FILE);

  /** A closed directory whose member has twenty entries, in tables and in write-ahead logs of both stores. */
  async function makeMember(): Promise<void> {
    if (original === undefined) {
      await grow(await found(), 9);
      await closeAll();
      await grow(await openMember(), 10);
      await closeAll();
      original = temporaryDirectory();
      cpSync(directory, original, { recursive: true });
    } else {
      cpSync(original, directory, { recursive: true });
    }
  }

  /** Replaces both slots of the mirror. */
  function changeMirror(change: Partial<HardStateMirror>): void {
    const mirror = { ...(readMirror(mirrorFile()) as HardStateMirror), ...change };
    const file = Buffer.alloc(mirrorOffset(1) + MIRROR_SLOT_BYTES);
    file.set(encodeMirror(mirror), mirrorOffset(mirror.counter));
    writeFileSync(mirrorFile(), file);
  }

  describe("that is new", () => {
    it("gets an identity of its own before anything else, for the owner's eyes only", async () => {
      const opened = await open();
      expect(opened.phase).to.equal("empty");
      const identity = readIdentity(directory);
      expect(identity).to.include({ phase: "empty", clusterName: "spec", name: "q-0", clusterId: "", memberId: 0 });
      expect(opened).to.deep.include({ identity });
      expect(statSync(directory).mode & 0o777).to.equal(0o700);
      expect(statSync(log()).mode & 0o777).to.equal(0o700);
      expect(readdirSync(directory).sort()).to.deep.equal(["identity", "log"]);
    });

    it("may be there already, empty but for what a file system brings", async () => {
      mkdirSync(join(directory, "lost+found"), { recursive: true });
      expect((await open()).phase).to.equal("empty");
    });

    it("keeps its incarnation through all starts until it is founded", async () => {
      const first = identityOf(await open());
      await closeAll();
      const second = await open();
      expect(second.phase).to.equal("empty");
      expect(identityOf(second)).to.deep.equal(first);
    });

    it("forgets the draft of an identity that a start left when it was cut short", async () => {
      mkdirSync(directory);
      writeFileSync(join(directory, "identity.4711.new"), "half an iden");
      expect((await open()).phase).to.equal("empty");
    });

    it("has one identity, whichever of two starts creates it", async () => {
      const other = { ...mintIdentity("spec", "q-0"), incarnation: "ab".repeat(16) };
      listenToMarks((name) => {
        if (name === "file.link.before") {
          // The other start completes at the moment when this one is about to.
          listenToMarks(null);
          writeIdentity(directory, other);
        }
      });
      expect(identityOf(await open())).to.deep.equal(other);
      expect(readIdentity(directory)).to.deep.equal(other);
    });
  });

  describe("that is founded", () => {
    it("holds the founding entry, voted for, committed and mirrored, in a state that is yet to apply it", async () => {
      const data = await found();
      expect(data).to.deep.include({ term: 1, vote: 1, commit: 1, writeSeq: 1, boot: 1 });
      expect(data.bounds).to.deep.equal({ first: 1, prevTerm: 0, last: 1, lastTerm: 1 });
      expect(data.identity).to.include({ phase: "member", memberId: 1, clusterName: "spec", name: "q-0" });
      expect(readIdentity(directory)).to.deep.equal(data.identity);
      expect(appliedBy(data)).to.equal(0);
      const { clusterId, incarnation } = data.identity;
      expect(readMirror(mirrorFile())).to.deep.equal({
        counter: 1,
        clusterId,
        memberId: 1,
        incarnation,
        boot: 1,
        writeSeq: 1,
        term: 1,
        vote: 1,
        damaged: false,
        isSoleVoter: true,
      });
      expect(readdirSync(directory).sort()).to.deep.equal(["fence", "identity", "log", "state", "state-1"]);
      for (const file of ["fence", "identity", "state"]) {
        expect(statSync(join(directory, file)).mode & 0o777, file).to.equal(0o600);
      }
      expect(statSync(state()).mode & 0o777).to.equal(0o700);
    });

    it("opens as a member with what it held, each time as the next boot", async () => {
      await grow(await found(), 4);
      await closeAll();
      for (const boot of [2, 3]) {
        const data = await openMember();
        expect(data.boot).to.equal(boot);
        expect(data).to.deep.include({ term: 1, vote: 1, writeSeq: boot + 1 });
        expect(data.bounds).to.deep.equal({ first: 1, prevTerm: 0, last: 5, lastTerm: 1 });
        expect(appliedBy(data)).to.equal(5);
        expect(data.commit).to.equal(5);
        expect(readMirror(mirrorFile())).to.include({ boot, writeSeq: boot + 1 });
        expect(entryTerm(data.log.entries(5, 5, 1)[0] as Uint8Array)).to.equal(1);
        await closeAll();
      }
    });

    it("takes term and vote from the mirror where it knows more than row `m`", async () => {
      await makeMember();
      changeMirror({ term: 5, vote: 0 });
      const data = await openMember();
      expect(data).to.deep.include({ term: 5, vote: 0 });
      await closeAll();
      changeMirror({ vote: 1 });
      expect(await openMember()).to.deep.include({ term: 5, vote: 1 });
      await closeAll();
      changeMirror({ term: 4, vote: 9 });
      expect(await openMember()).to.deep.include({ term: 5, vote: 1 });
    });

    it("is a violation if it voted for two in one term", async () => {
      await makeMember();
      changeMirror({ vote: 2 });
      const error = await open().catch((caught: unknown) => caught);
      expect(error).to.be.instanceOf(InvariantViolation).with.property("rule", "a member votes once in a term");
      changeMirror({ vote: 1 });
      expect(await openMember(), "the stores were closed").to.deep.include({ term: 1 });
    });

    it("raises what goes wrong in the founding, and is completed or founded by the next start", async () => {
      const opened = await open();
      if (opened.phase !== "empty") {
        throw new Error(opened.phase);
      }
      writeFileSync(join(directory, "state-1"), "in the way");
      const founding = foundingOf(opened.identity);
      const error = await opened.found(founding, NOW).catch((caught: unknown) => caught);
      expect(error).to.be.instanceOf(StoreError).with.property("kind", "io");
      await closeAll();
      rmSync(join(directory, "state-1"));
      expect((await openMember()).identity.clusterId).to.equal(founding.clusterId);
    });
  });

  describe("whose founding was cut short", () => {
    /** As after a crash between the log and the identity. */
    async function cutShort(): Promise<void> {
      const empty = identityOf(await open());
      await closeAll();
      await found();
      await closeAll();
      writeIdentity(directory, empty);
      rmSync(state(), { recursive: true });
      rmSync(join(directory, "state"));
    }

    it("completes it, with or without what comes after the log, and is a member from then on", async () => {
      await cutShort();
      const data = await openMember();
      expect(data.identity).to.include({ phase: "member", memberId: 1 });
      expect(data.bounds).to.include({ first: 1, last: 1 });
      await closeAll();
      expect((await openMember()).boot).to.equal(3);
    });

    it("completes it without the mirror, before which nothing was acknowledged", async () => {
      await cutShort();
      rmSync(mirrorFile());
      expect((await openMember()).identity.phase).to.equal("member");
      await closeAll();
      expect((await openMember()).boot).to.equal(3);
    });

    it("is empty again if the log is not there: the founding can be repeated", async () => {
      await cutShort();
      rmSync(log(), { recursive: true });
      const data = await found();
      expect(data.bounds).to.include({ first: 1, last: 1 });
      await closeAll();
      await openMember();
    });
  });

  describe("that is in use", () => {
    it("refuses a second opener as locked, in phase empty and as a member, and does not disturb the first", async () => {
      await open();
      const error = await openFailure();
      expect(error.kind).to.equal("locked");
      expect(error.message).to.include("another process uses the data directory");
      await closeAll();
      const data = await found();
      expect((await openFailure()).kind).to.equal("locked");
      await grow(data, 3);
      expect(readdirSync(directory).sort()).to.deep.equal(["fence", "identity", "log", "state", "state-1"]);
      await closeAll();
      expect((await openMember()).bounds.last).to.equal(4);
    });

    it("says io, with the place, when the file system refuses", async () => {
      const file = join(temporaryDirectory(), "file");
      writeFileSync(file, "");
      for (const path of [file, join(file, "data")]) {
        const error = await openFailure({ directory: path });
        expect(error.kind).to.equal("io");
        expect(error.message).to.include(path);
      }
      await makeMember();
      rmSync(mirrorFile());
      mkdirSync(mirrorFile());
      expect(await openFailure()).to.include({ kind: "io" });
    });
  });

  describe("that is not this member's", () => {
    it("is refused under another name, and under another cluster's, without a change", async () => {
      await makeMember();
      for (const options of [{ name: "q-1" }, { clusterName: "other" }]) {
        const refused = await openRefused(options);
        expect(refused.state).to.equal("MEMBER_REFUSED");
        expect(refused.reason).to.include('belongs to member "q-0" of cluster "spec"');
        expect(refused.identity?.name).to.equal("q-0");
      }
      await openMember();
    });

    it("is refused and not touched when it is not empty and has no identity", async () => {
      await makeMember();
      rmSync(join(directory, "identity"));
      const before = contentOf(directory);
      const refused = await openRefused();
      expect(refused.state).to.equal("MEMBER_REFUSED");
      expect(refused.reason).to.include("has no identity and is not empty (it holds fence, log, state, state-1)");
      expect(refused.identity).to.equal(null);
      expect(contentOf(directory)).to.deep.equal(before);

      directory = temporaryDirectory();
      writeFileSync(join(directory, "holiday.jpg"), "");
      expect((await openRefused()).reason).to.include("holiday.jpg");
      expect(readdirSync(directory)).to.deep.equal(["holiday.jpg"]);
    });

    it("is refused when identity, log and mirror are of different members", async () => {
      await makeMember();
      const identity = readIdentity(directory);
      const mirror = readMirror(mirrorFile()) as HardStateMirror;
      if (identity === null) {
        throw new Error("no identity");
      }
      const other = "11111111-2222-3333-4444-555555555555";
      const strangers: readonly (() => void)[] = [
        () => changeMirror({ memberId: 2 }),
        () => changeMirror({ clusterId: other }),
        () => changeMirror({ incarnation: "ab".repeat(16) }),
        () => writeIdentity(directory, { ...identity, memberId: 2 }),
        () => writeIdentity(directory, { ...identity, clusterId: other }),
        () => writeIdentity(directory, { ...identity, incarnation: "ab".repeat(16) }),
      ];
      for (const [at, exchange] of strangers.entries()) {
        exchange();
        const refused = await openRefused();
        expect(refused.state, `exchange ${at}`).to.equal("MEMBER_REFUSED");
        expect(refused.reason).to.include("belong to different members");
        changeMirror(mirror);
        writeIdentity(directory, identity);
      }
      await openMember();
    });
  });

  describe("with a damaged mirror", () => {
    beforeEach(makeMember);

    it("is refused without one, and with two bad slots, until a person says to go on", async () => {
      const damages: readonly (() => void)[] = [
        () => rmSync(mirrorFile()),
        () => writeFileSync(mirrorFile(), ""),
        () => writeFileSync(mirrorFile(), Buffer.alloc(mirrorOffset(1) + MIRROR_SLOT_BYTES)),
        () => [0, 4096].map((slot) => flip(mirrorFile(), slot + 33)),
      ];
      for (const damage of damages) {
        damage();
        const refused = await openRefused();
        expect(refused.state).to.equal("MEMBER_REFUSED");
        expect(refused.reason).to.include("--accept-missing-fence");
        const before = readMirror(mirrorFile());
        expect(before).to.equal(null);
        const data = await openMember({ acceptMissingFence: true });
        expect(data.bounds.last).to.equal(20);
        await closeAll();
        await openMember();
        await closeAll();
      }
    });

    it("goes on with the other slot when one is bad", async () => {
      const mirror = readMirror(mirrorFile()) as HardStateMirror;
      flip(mirrorFile(), mirrorOffset(mirror.counter) + 40);
      expect((await openMember()).bounds.last).to.equal(20);
    });

    it("goes on with an older one: a power cut may leave it behind by as much", async () => {
      changeMirror({ writeSeq: 1 });
      expect((await openMember()).bounds.last).to.equal(20);
    });

    it("is damaged with a newer one: the log has lost what was acknowledged", async () => {
      const { writeSeq } = readMirror(mirrorFile()) as HardStateMirror;
      changeMirror({ writeSeq: writeSeq + 1 });
      const refused = await openRefused();
      expect(refused.state).to.equal("MEMBER_DAMAGED");
      expect(refused.reason).to.include(`ends at write ${writeSeq}, but write ${writeSeq + 1} was acknowledged`);
    });
  });

  describe("with damage in the stores", () => {
    beforeEach(makeMember);

    async function expectDamaged(reason: string | RegExp): Promise<void> {
      const refused = await openRefused();
      expect(refused.state, refused.reason).to.equal("MEMBER_DAMAGED");
      expect(refused.reason).to.match(typeof reason === "string" ? new RegExp(reason) : reason);
      // It stays refused: a second start does not treat it as new either.
      expect((await openRefused()).state).to.equal("MEMBER_DAMAGED");
    }

    it("is damaged without log/, the state, or the file that names it", async () => {
      for (const [name, reason] of [
        ["log", "there is no Raft log in"],
        ["state-1", "names state-1, which is not there"],
        ["state", "which names the live state directory"],
      ] as const) {
        renameSync(join(directory, name), join(directory, `../../${name}`));
        await expectDamaged(reason);
        rmSync(join(directory, name), { recursive: true, force: true });
        rmSync(join(directory, `${name}-before-recovery`), { recursive: true, force: true });
        renameSync(join(directory, `../../${name}`), join(directory, name));
      }
      await openMember();
    });

    it("is damaged when the file `state` names something else", async () => {
      for (const name of ["", "log", "../log", "state-0", "state-1\0", "state-2"]) {
        writeFileSync(join(directory, "state"), name);
        await expectDamaged(/(does not name|names state-2, which is not there).*there: state-1/);
      }
    });

    it("is damaged when a file of either store is gone", async () => {
      for (const [store, patterns] of [
        [log(), [/^\d+\.log$/]],
        [state(), [/^CURRENT$/, /^MANIFEST/, /\.sst$/]],
      ] as const) {
        for (const pattern of patterns) {
          const path = fileOf(store, pattern);
          const content = readFileSync(path);
          rmSync(path);
          await expectDamaged(/no store in|does not open|no whole record/);
          writeFileSync(path, content);
        }
      }
      await openMember();
    });

    it("is damaged, through the mirror, when the end of the log is cut off", async () => {
      const whole = readFileSync(segment());
      for (const cut of [1, 10, 200, 1_000]) {
        truncateSync(segment(), used() - cut);
        await expectDamaged("was acknowledged; it ends at byte [0-9]+ of log/0000000001.log");
        writeFileSync(segment(), whole);
      }
      await openMember();
    });

    it("is damaged, through the mirror, when a bit of the log has flipped anywhere", async () => {
      const whole = readFileSync(segment());
      const length = used();
      for (const byte of [0, 6, 9, 30, 70, Math.floor(length / 3), Math.floor(length / 2), length - 1]) {
        flip(segment(), byte, 5);
        await expectDamaged(/(was acknowledged|no whole record).*log\/0000000001.log is damaged/);
        writeFileSync(segment(), whole);
      }
      await openMember();
    });

    it("replays from the log what the state has lost at its end", async () => {
      const wal = fileOf(state(), /\.log$/);
      truncateSync(wal, Math.floor(statSync(wal).size / 2));
      const data = await openMember();
      expect(appliedBy(data)).to.equal(10);
      expect(data.commit).to.be.at.least(10);
      await closeAll();
      rmSync(state(), { recursive: true });
      await changeNothing();
    });

    /** A new state directory is a state that has applied nothing: everything is still in the log. */
    async function changeNothing(): Promise<void> {
      mkdirSync(state());
      await (await Rocks.open(state(), { ...ROCKS, createIfMissing: true })).close();
      expect(appliedBy(await openMember())).to.equal(0);
    }

    it("is damaged when the state ends before the log begins", async () => {
      const before = contentOfStore(state());
      const data = await openMember();
      await grow(data, 10);
      await grow(data, 1, 25);
      await closeAll();
      before();
      await expectDamaged("the state has applied entry 20 of term 1, but the log holds 25..31");
    });

    it("is damaged when the state is ahead of the log (P58)", async () => {
      const [before, mirror] = [contentOfStore(log()), readFileSync(mirrorFile())];
      await grow(await openMember(), 10);
      await closeAll();
      rmSync(log(), { recursive: true });
      before();
      await expectDamaged("ends at write");
      writeFileSync(mirrorFile(), mirror);
      await expectDamaged("the state has applied entry 30 of term 1, but the log holds 1..20");
    });

    it("is damaged when the term of the applied entry is not the log's", async () => {
      replaceEntry(directory, 20, tick(2, 20));
      await expectDamaged("the state has applied entry 20 of term 1");
    });

    it("is damaged when an entry of the log is flipped, gone, or of a term that falls", async () => {
      const whole = readFileSync(segment());
      const without = (index: number) => () => {
        rewriteLog(directory, (records) => {
          return records.map(({ meta, rows }) => ({ meta, rows: rows.filter((row) => entryIndex(row) !== index) }));
        });
      };
      const damages = new Map<string, () => void>([
        ["flipped", () => replaceEntry(directory, 12, tick(1, 12).fill(0xff, 50, 51))],
        ["in another's place", () => replaceEntry(directory, 12, tick(1, 13))],
        ["gone", without(12)],
        ["first gone", without(1)],
        ["last gone", without(20)],
        ["falling", () => replaceEntry(directory, 12, tick(0, 12))],
      ]);
      for (const [what, damage] of damages) {
        damage();
        const refused = await openRefused();
        expect(refused.state, what).to.equal("MEMBER_DAMAGED");
        expect(refused.reason, what).to.match(/entry [0-9]+ of the Raft log is missing or damaged; it ends at byte/);
        writeFileSync(segment(), whole);
      }
      await openMember();
    });

    it("is refused when the identity is no JSON any more, by the name of that file", async () => {
      writeFileSync(join(directory, "identity"), "{");
      const { state: told, reason } = await openRefused();
      expect(told + reason).to.include(`MEMBER_REFUSEDthe file ${join(directory, "identity")} is damaged`);
    });

    it("is damaged when the end of the state's manifest is cut off: newer batches are there, older ones are not", async () => {
      const manifest = fileOf(state(), /^MANIFEST/);
      truncateSync(manifest, statSync(manifest).size - 20);
      const table = fileOf(state(), /\.sst$/);
      await expectDamaged("the state has lost batches between older and newer ones");
      expect(existsSync(table), "RocksDB takes the table for rubbish").to.equal(false);
      expect(readdirSync(join(directory, "state-1-before-recovery")).some((name) => name.endsWith(".sst"))).to.equal(
        true,
      );
    });

    it("leaves a damaged log as it was, for a person to examine", async () => {
      flip(segment(), Math.floor(used() / 2));
      const damaged = readFileSync(segment());
      await expectDamaged("was acknowledged");
      expect(readFileSync(segment())).to.deep.equal(damaged);
    });

    /** Copies a store, and returns what puts the copy in its place again. */
    function contentOfStore(store: string): () => void {
      const copy = temporaryDirectory();
      cpSync(store, copy, { recursive: true });
      return () => {
        rmSync(store, { recursive: true, force: true });
        rmSync(`${store}-before-recovery`, { recursive: true, force: true });
        cpSync(copy, store, { recursive: true });
      };
    }
  });
});
