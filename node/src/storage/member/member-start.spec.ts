import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { crc32 } from "node:zlib";
import { expect } from "chai";
import {
  appendTo as append,
  damageTable,
  JOINED_MEMBER as JOINED,
  joinedEntry,
  makeJoinedMember,
  openJoined,
  openJoinedMember,
  replaceEntry,
  rewriteLog,
  segmentsOf,
  temporaryDirectory,
  until,
  untilDamageIsFound,
  usedBytes,
} from "../../../test/harness/index.ts";
import { entryIndex } from "../../raft/index.ts";
import {
  type Change,
  CLUSTER_VERSIONS,
  clusterRow,
  PROGRESS_ROW,
  readProgress,
  UnknownVersion,
} from "../../state/index.ts";
import { MIRROR_FILE, mirrorOffset, readMirror, StoreError } from "../files/index.ts";
import { readIdentity } from "../identity/index.ts";
import { openLog } from "../log/index.ts";
import { StoppedMember } from "../recovery/index.ts";
import { Rocks } from "../rocks/index.ts";
import { LOCAL_ROWS_FROM } from "../state/index.ts";
import type { DataDirectory } from "./data-directory.ts";
import type { MemberData } from "./member-data.ts";
import { type Closable, startMember } from "./member-start.ts";

const ROCKS = { createIfMissing: false, memtableBytes: 4 * 1024 * 1024, cacheBytes: 1024 * 1024 };
/** Bounds of an empty log, and of one that begins after the state. */
const EMPTY = { first: 1, prevTerm: 0, last: 0, lastTerm: 0 };
const BEHIND_STATE = {
  first: JOINED.applied + 1,
  prevTerm: JOINED.appliedTerm,
  last: JOINED.applied,
  lastTerm: JOINED.appliedTerm,
};
const BOOTS = 2;

type Refused = DataDirectory & { readonly phase: "refused" };

/** Files below the directory with their contents, but for what RocksDB notes for itself. */
function contentOf(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/^LOG/.test(entry.name))
    .map(({ parentPath, name }) => `${join(parentPath, name)} ${crc32(readFileSync(join(parentPath, name)))}`)
    .sort();
}

describe("start of a member of several", function () {
  this.timeout(20_000);
  const opened: MemberData[] = [];
  let original: string;
  let directory: string;

  before(async () => {
    original = join(temporaryDirectory(), "data");
    await makeJoinedMember(original);
  });
  beforeEach(() => {
    directory = join(temporaryDirectory(), "data");
    cpSync(original, directory, { recursive: true });
  });
  afterEach(() => closeAll());

  async function closeAll(): Promise<void> {
    for (const data of opened.splice(0)) {
      await data.close();
    }
  }

  async function open(): Promise<MemberData> {
    const data = await openJoinedMember(directory);
    opened.push(data);
    return data;
  }

  async function openRefused(): Promise<Refused> {
    const found = await openJoined(directory);
    if (found.phase !== "refused") {
      opened.push(...(found.phase === "member" ? [found.data] : []));
      throw new Error(`the directory is ${found.phase}`);
    }
    return found;
  }

  const path = (name: string): string => join(directory, name);
  const appliedBy = ({ state }: MemberData): number => readProgress(state).appliedIndex;
  const mirror = () => readMirror(path(MIRROR_FILE));
  const lost = (): string[] => readdirSync(directory).filter((name) => name.startsWith("lost-"));

  function fileOf(store: string, pattern: RegExp): string {
    const name = readdirSync(path(store)).find((file) => pattern.test(file));
    if (name === undefined) {
      throw new Error(`no file in ${store} matches ${pattern}`);
    }
    return join(path(store), name);
  }

  function removeAll(names: readonly string[]): void {
    for (const name of names) {
      rmSync(path(name), { recursive: true });
    }
  }

  function flip(file: string, byte: number): void {
    const bytes = readFileSync(file);
    bytes[byte] = (bytes[byte] as number) ^ 0x20;
    writeFileSync(file, bytes);
  }

  /** Changes rows of a store while it is closed. */
  async function change(store: string, changes: (rocks: Rocks) => readonly Change[]): Promise<void> {
    const rocks = await Rocks.open(path(store), ROCKS);
    rocks.write(changes(rocks), true);
    await rocks.close();
  }

  async function heal(data: MemberData): Promise<void> {
    await new Promise<void>((resolve) => data.log.clearDamage(resolve));
  }

  it("goes on where it was, undamaged", async () => {
    const data = await open();
    expect(data).to.deep.include({ term: 3, vote: 2, commit: 20, boot: BOOTS + 1, damaged: false });
    expect(data.bounds).to.deep.equal({ first: 1, prevTerm: 0, last: 20, lastTerm: 2 });
    expect(appliedBy(data)).to.equal(20);
    expect(mirror()).to.include({ isSoleVoter: false, damaged: false });
    expect(lost()).to.deep.equal([]);
  });

  it("P57: is not damaged by a log that rightly got shorter and older than it was", async () => {
    const data = await open();
    await append(data, 25, 3);
    const { writeSeq } = data.log.meta;
    await new Promise<void>((resolve) => {
      const cut = { term: 4, vote: 0, commit: 20, from: 21, rows: [], resetTo: null };
      data.log.write({ ...cut, writeSeq: writeSeq + 1 }, () => resolve());
    });
    // An uncommitted entry was not applied either; this state is from before it.
    await closeAll();
    rmSync(path("state-1"), { recursive: true });
    cpSync(join(original, "state-1"), path("state-1"), { recursive: true });
    const next = await open();
    expect(next).to.include({ term: 4, vote: 0, damaged: false });
    expect(next.bounds).to.include({ last: 20, lastTerm: 2 });
  });

  it("is refused, and nothing is touched, where a release wrote the directory whose data has another format", async () => {
    // Another release may have another checksum.
    const { checksum: _, ...written } = JSON.parse(readFileSync(path("identity"), "utf8"));
    for (const format of [1, 2, 5]) {
      writeFileSync(path("identity"), JSON.stringify({ ...written, format }));
      const before = contentOf(directory);
      const refused = await openRefused();
      expect(refused.state).to.equal("MEMBER_REFUSED");
      expect(refused.reason).to.include(`data of format ${format}, and this release reads formats 3 and 4`);
      expect(refused.identity).to.equal(null);
      expect(contentOf(directory)).to.deep.equal(before);
    }
  });

  describe("of a cluster version that this release does not know", () => {
    /** Changes bytes of the cluster's record in the state. */
    async function changeRecord(edit: (record: Buffer) => void): Promise<void> {
      await change("state-1", (rocks) => {
        const record = clusterRow(rocks) ?? expect.fail("the state has a cluster");
        const changes: Change[] = [];
        rocks.scan(new Uint8Array(0), LOCAL_ROWS_FROM, ({ key, value }) => {
          if (Buffer.from(value).equals(record)) {
            const edited = Buffer.from(value);
            edit(edited);
            changes.push({ key: key.slice(), value: edited });
          }
          return true;
        });
        expect(changes).to.have.length(1);
        return changes;
      });
    }

    /** The version follows the name. */
    function writeVersion(version: number): Promise<void> {
      return changeRecord((record) => record.writeUInt32BE(version, record.indexOf("spec") + "spec".length));
    }

    async function failureOf(): Promise<Error> {
      const failure = await open().catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(UnknownVersion);
      return failure as Error;
    }

    it("ends with what wrote it, what is known and what to do, and is opened by the release that knows it", async () => {
      for (const version of [CLUSTER_VERSIONS.max + 1, CLUSTER_VERSIONS.min - 1]) {
        await writeVersion(version);
        const before = [readFileSync(path("identity"), "utf8"), mirror()];
        const { message } = await failureOf();
        expect(message).to.contain(`${directory} was written by a cluster of version ${version}`);
        const { min, max } = CLUSTER_VERSIONS;
        expect(message).to.contain(`this release knows the cluster versions ${min} to ${max}`);
        expect(message).to.contain("use the release that wrote it, or a later one");
        expect([readFileSync(path("identity"), "utf8"), mirror()]).to.deep.equal(before);
        const stopped = await StoppedMember.open(directory, { acceptRetired: true }).catch((error: unknown) => error);
        expect(stopped).to.be.instanceOf(UnknownVersion);
      }
      await writeVersion(CLUSTER_VERSIONS.max);
      expect(await open()).to.include({ damaged: false });
    });

    it("ends in the same way where even the form of the record is another one", async () => {
      await changeRecord((record) => record.writeUInt8(9, 0));
      expect((await failureOf()).message).to.contain("in a form of a cluster of another version");
    });
  });

  describe("whose log is lost", () => {
    const segment = () => fileOf("log", /\.log$/);
    /** Bytes of all records; zeros follow. */
    const used = () => usedBytes(segment());
    const damages = new Map<string, () => void | Promise<void>>([
      ["deleted", () => rmSync(path("log"), { recursive: true })],
      ["empty", () => removeAll(readdirSync(path("log")).map((name) => `log/${name}`))],
      ["without its segment", () => rmSync(segment())],
      ["P33: holed in the middle", () => flip(segment(), Math.floor(used() / 2))],
      ["cut at the end", () => truncateSync(segment(), used() - 10)],
      ["with a damaged header", () => flip(segment(), 5)],
      [
        "without an entry",
        () => {
          rewriteLog(directory, (records) => {
            return records.map(({ meta, rows }) => ({ meta, rows: rows.filter((row) => entryIndex(row) !== 12) }));
          });
        },
      ],
      ["with an entry that fails its checksum", () => replaceEntry(directory, 5, joinedEntry(5, 1).fill(0xff, 50, 51))],
      ["suspected while the member ran", () => writeFileSync(path("suspect"), "entry 5 fails its checksum\n")],
    ]);

    for (const [how, damage] of damages) {
      it(`${how}: is damaged, keeps term and vote, and goes on behind its state (P46, P58)`, async () => {
        await damage();
        const data = await open();
        expect(data).to.deep.include({ term: 3, vote: 2, commit: 20, boot: BOOTS + 1, damaged: true });
        expect(data.bounds).to.deep.equal(BEHIND_STATE);
        expect(data.log.meta).to.include({ memberId: 7, clusterId: JOINED.clusterId, commit: 20 });
        expect(appliedBy(data)).to.equal(20);
        expect(mirror()).to.include({ damaged: true, isSoleVoter: false, term: 3, vote: 2, boot: BOOTS + 1 });
        expect(lost()).to.deep.equal(["lost-1"]);
        expect(readFileSync(path("lost-1/reason"), "utf8")).to.have.length.greaterThan(20);
        expect(statSync(path("lost-1")).mode & 0o777).to.equal(0o700);
        expect(existsSync(path("suspect")), "it was about the log that was put aside").to.equal(false);
      });
    }

    it("keeps every segment that it had, as it was", async () => {
      flip(segment(), Math.floor(used() / 2));
      const before = readFileSync(segment());
      await open();
      expect(readFileSync(path(`lost-1/log/${basename(segment())}`))).to.deep.equal(before);
    });

    it("is not lost by a damaged lock, which has no data", async () => {
      for (const name of readdirSync(path("log/lock")).filter((file) => file !== "LOCK")) {
        writeFileSync(path(`log/lock/${name}`), "damaged");
        expect(await open(), name).to.include({ damaged: false });
        await closeAll();
      }
      rmSync(path("log/lock"), { recursive: true });
      expect(await open()).to.include({ damaged: false });
    });

    it("P33: does not take zeros that became something else for a write", async () => {
      flip(segment(), used() + 1_000);
      expect(await open()).to.include({ damaged: false, commit: 20 });
      await closeAll();
      expect((await open()).bounds).to.include({ first: 1, last: 20 });
    });

    it("stays damaged through all starts, with what it receives meanwhile, until it is healed", async () => {
      rmSync(path("log"), { recursive: true });
      const data = await open();
      await append(data, 25, 3);
      await closeAll();
      const second = await open();
      expect(second).to.deep.include({ damaged: true, term: 3, vote: 2, commit: 25, boot: BOOTS + 2 });
      expect(second.bounds).to.deep.equal({ first: 21, prevTerm: 2, last: 25, lastTerm: 3 });
      await append(second, 26, 3);
      await heal(second);
      expect(mirror()).to.include({ damaged: false, term: 3, vote: 2 });
      await append(second, 27, 4);
      await closeAll();
      const third = await open();
      expect(third).to.deep.include({ damaged: false, term: 4, vote: 2, boot: BOOTS + 3 });
      expect(third.bounds).to.include({ first: 21, last: 27 });
      expect(lost(), "what was put aside stays").to.deep.equal(["lost-1"]);
    });

    it("is damaged twice in a row, and puts both aside", async () => {
      rmSync(path("log"), { recursive: true });
      await append(await open(), 25, 3);
      await closeAll();
      rmSync(segment());
      const data = await open();
      expect(data).to.deep.include({ damaged: true, term: 3, vote: 2, commit: 25, boot: BOOTS + 2 });
      expect(data.bounds).to.deep.equal({ first: 26, prevTerm: 3, last: 25, lastTerm: 3 });
      expect(lost()).to.deep.equal(["lost-1", "lost-2"]);
    });
  });

  describe("whose state is lost", () => {
    const damages = new Map<string, () => void | Promise<void>>([
      ["deleted", () => rmSync(path("state-1"), { recursive: true })],
      ["not named any more", () => rmSync(path("state"))],
      ["named wrongly", () => writeFileSync(path("state"), "../elsewhere\n")],
      ["without its manifest", () => rmSync(fileOf("state-1", /^MANIFEST/))],
      ["without a table", () => rmSync(fileOf("state-1", /\.sst$/))],
      ["suspected while the member ran", () => writeFileSync(path("suspect-state"), "the store failed to read\n")],
      ["deleted with the log", () => removeAll(["log", "state", "state-1"])],
    ]);

    for (const [how, damage] of damages) {
      it(`${how}: is damaged, keeps term and vote, and starts with nothing (P46)`, async () => {
        await damage();
        const data = await open();
        expect(data).to.deep.include({ term: 3, vote: 2, commit: 0, boot: BOOTS + 1, damaged: true });
        expect(data.bounds).to.deep.equal(EMPTY);
        expect(appliedBy(data)).to.equal(0);
        expect(mirror()).to.include({ damaged: true, isSoleVoter: false, term: 3, vote: 2 });
        expect(lost()).to.deep.equal(["lost-1"]);
        expect(readdirSync(directory).sort()).to.deep.equal([
          ...["fence", "identity", "log", "lost-1", "state", "state-1"],
        ]);
        await append(data, 3, 3);
        await closeAll();
        const next = await open();
        expect(next).to.include({ damaged: true, boot: BOOTS + 2 });
        expect([next.bounds.last, appliedBy(next)]).to.deep.equal([3, 3]);
      });
    }

    it("because it ends before the log begins: both are put aside", async () => {
      const data = await open();
      await append(data, 40, 3);
      data.log.compact(31, 3);
      await append(data, 41, 3);
      await closeAll();
      rmSync(path("state-1"), { recursive: true });
      cpSync(join(original, "state-1"), path("state-1"), { recursive: true });
      const next = await open();
      expect(next.damaged).to.equal(true);
      expect([next.bounds, appliedBy(next)]).to.deep.equal([EMPTY, 0]);
      expect(readFileSync(path("lost-1/reason"), "utf8")).to.include("has applied entry 20 of term 2");
      expect(readdirSync(path("lost-1"))).to.include.members(["log", "state", "state-1"]);
    });

    it("is whole where only its end is missing and the log has that: P42, it is applied again", async () => {
      const wal = fileOf("state-1", /\.log$/);
      truncateSync(wal, 0);
      const data = await open();
      expect(data).to.include({ damaged: false, commit: 20 });
      expect(appliedBy(data)).to.equal(10);
    });
  });

  describe("whose state is ahead of the log", () => {
    /** A state as after a snapshot was placed and before the log was reset. */
    async function place(index: number, term: number): Promise<void> {
      const data = await open();
      const progress = Uint8Array.from(data.state.get(PROGRESS_ROW) as Uint8Array);
      const view = new DataView(progress.buffer);
      view.setUint32(5, index);
      view.setUint32(13, term);
      await new Promise<void>((resolve) => {
        data.state.beginReplacement((replacement) => {
          replacement.write([{ key: PROGRESS_ROW, value: progress }], () => {
            replacement.finish(index, term, () => replacement.place(resolve));
          });
        });
      });
      await closeAll();
    }

    it("P58: resets the log to begin after a placed snapshot, undamaged", async () => {
      await place(50, 3);
      const data = await open();
      expect(data).to.deep.include({ damaged: false, term: 3, vote: 2, commit: 50 });
      expect(data.bounds).to.deep.equal({ first: 51, prevTerm: 3, last: 50, lastTerm: 3 });
      expect(appliedBy(data)).to.equal(50);
      expect(
        readdirSync(directory)
          .filter((name) => name.startsWith("state"))
          .sort(),
      ).to.deep.equal(["state", "state-2"]);
      expect(lost()).to.deep.equal([]);
      await closeAll();
      expect((await open()).bounds).to.include({ first: 51, last: 50 });
    });

    it("enters the term of the snapshot, in which it has not voted", async () => {
      await place(50, 9);
      expect(await open()).to.include({ damaged: false, term: 9, vote: 0 });
      expect(mirror()).to.include({ term: 9, vote: 0 });
    });

    it("loses its log too: goes on behind the snapshot, damaged", async () => {
      await place(50, 9);
      rmSync(path("log"), { recursive: true });
      const data = await open();
      expect(data).to.deep.include({ damaged: true, term: 9, vote: 0, commit: 50 });
      expect(data.bounds).to.deep.equal({ first: 51, prevTerm: 9, last: 50, lastTerm: 9 });
    });

    it("is refused where nothing explains it: mirror and log are older copies, and a vote may be forgotten", async () => {
      const copies = ["log", MIRROR_FILE];
      const data = await open();
      await append(data, 30, 3);
      await closeAll();
      for (const name of copies) {
        rmSync(path(name), { recursive: true });
        cpSync(join(original, name), path(name), { recursive: true });
      }
      const refused = await openRefused();
      expect(refused.state).to.equal("MEMBER_REFUSED");
      expect(refused.reason).to.include("may have lost votes: the state has applied entry 30 of term 3");
      expect(refused.reason).to.include("Remove the member from its cluster");
      expect(mirror()).to.include({ damaged: false });
      expect((await openRefused()).state, "it stays so").to.equal("MEMBER_REFUSED");
    });

    it("is refused where the mirror is older than the state, although the log is lost", async () => {
      const data = await open();
      await append(data, 30, 5);
      await closeAll();
      rmSync(path("log"), { recursive: true });
      cpSync(join(original, MIRROR_FILE), path(MIRROR_FILE));
      const refused = await openRefused();
      expect(refused.state).to.equal("MEMBER_REFUSED");
      expect(refused.reason).to.include("may have lost votes");
      expect(lost()).to.deep.equal([]);
      expect(mirror()).to.include({ damaged: false });
    });

    it("and which was not placed yet is deleted: the former state lives", async () => {
      const data = await open();
      await new Promise<void>((resolve) => data.state.beginReplacement(() => resolve()));
      const received = join(temporaryDirectory(), "state-2");
      cpSync(path("state-2"), received, { recursive: true });
      await closeAll();
      // Left by a crash: a clean stop deletes it.
      cpSync(received, path("state-2"), { recursive: true });
      const next = await open();
      expect([next.damaged, appliedBy(next)]).to.deep.equal([false, 20]);
      expect(existsSync(path("state-2"))).to.equal(false);
    });
  });

  describe("that cannot heal", () => {
    it("is refused when the mirror is gone: nothing shows how it voted (P46)", async () => {
      for (const damage of [() => undefined, () => rmSync(path("log"), { recursive: true })]) {
        damage();
        rmSync(path(MIRROR_FILE), { force: true });
        const refused = await openRefused();
        expect(refused.state).to.equal("MEMBER_REFUSED");
        expect(refused.reason).to.include("remove a member of several from its cluster, and add it again");
        expect(lost()).to.deep.equal([]);
      }
    });

    it("is refused when one copy of the mirror has gone bad and the log is lost", async () => {
      const { counter } = mirror() as { readonly counter: number };
      flip(path(MIRROR_FILE), mirrorOffset(counter) + 40);
      await closeAll();
      rmSync(path("log"), { recursive: true });
      const refused = await openRefused();
      expect(refused.state).to.equal("MEMBER_REFUSED");
      expect(refused.reason).to.include("of the two copies of its mirror one is unreadable");
      expect(lost()).to.deep.equal([]);
    });

    it("is another member when everything is gone (P46)", async () => {
      const before = readIdentity(directory);
      rmSync(directory, { recursive: true });
      const found = await openJoined(directory);
      expect(found).to.include({ phase: "empty" });
      const { incarnation, memberId } = found.phase === "empty" ? found.identity : {};
      expect(incarnation).not.to.equal(before?.incarnation);
      expect(memberId).to.equal(0);
      await (found as { close(): Promise<void> }).close();
    });

    it("is refused as before, and unchanged, if it is the only voter: no other member has the data", async () => {
      const data = await open();
      data.log.setSoleVoter(true);
      await append(data, 21, 3);
      await closeAll();
      const [whole, mirrorBefore] = [path("../whole"), mirror()];
      cpSync(directory, whole, { recursive: true });
      for (const [name, what] of [
        ["log", "there is no Raft log in"],
        ["state-1", "names state-1, which is not there"],
        ["state", "which names the live state directory"],
      ] as const) {
        rmSync(path(name), { recursive: true });
        const refused = await openRefused();
        expect(refused.state).to.equal("MEMBER_DAMAGED");
        expect(refused.reason).to.include("has lost acknowledged data").and.to.include(what);
        expect([mirror(), lost()]).to.deep.equal([mirrorBefore, []]);
        cpSync(join(whole, name), path(name), { recursive: true });
      }
      writeFileSync(path("suspect"), "entry 5 fails its checksum\n");
      const refused = await openRefused();
      expect(refused.state).to.equal("MEMBER_DAMAGED");
      expect(refused.reason).to.include("delete that file to clear the mark");
      rmSync(path("suspect"));
      expect((await open()).damaged).to.equal(false);
    });
  });

  describe("that was given up", () => {
    for (const [phase, state, what] of [
      ["removed", "MEMBER_REMOVED", "was removed from its cluster (entry 99 removed it)"],
      ["refused", "MEMBER_REFUSED", "must not be used any more (entry 99 removed it)"],
    ] as const) {
      it(`as ${phase} reports why, and what to do, and is never touched again`, async () => {
        const data = await open();
        data.retire(phase, "entry 99 removed it");
        await closeAll();
        const before = contentOf(directory);
        for (let time = 0; time < 2; time++) {
          const refused = await openRefused();
          expect(refused.state).to.equal(state);
          expect(refused.reason).to.include(what).and.to.include("empty directory");
          expect(refused.identity).to.include({ phase, memberId: 7, reason: "entry 99 removed it" });
        }
        expect(contentOf(directory)).to.deep.equal(before);
      });
    }
  });

  it("notes a state that it cannot read while it runs, and the next start takes it for lost", async () => {
    const data = await open();
    // Each as large as a block: a start reads other rows, and with them the blocks at the ends.
    const middle = 32;
    const key = Uint8Array.of(0x64, middle);
    const rows = Array.from({ length: 64 }, (_, at) => ({
      key: Uint8Array.of(0x64, at),
      value: Buffer.alloc(64_000, at),
    }));
    data.state.write(rows);
    await closeAll();
    const noted: boolean[] = [];
    const running = await openJoinedMember(directory, ({ kind }) => {
      expect(kind).to.equal("corruption");
      noted.push(existsSync(path("suspect-state")));
    });
    opened.push(running);
    for (const table of readdirSync(path("state-1")).filter((name) => name.endsWith(".sst"))) {
      flip(join(path("state-1"), table), (middle + 0.5) * 64_000);
    }
    expect(() => running.state.get(key)).to.throw(/Corruption/);
    expect(noted, "the note is there before the end").to.deep.equal([true]);
    await closeAll();
    const next = await open();
    expect(next).to.include({ damaged: true, term: 3, vote: 2 });
    expect([next.bounds, appliedBy(next)]).to.deep.equal([EMPTY, 0]);
    expect(readFileSync(path("lost-1/suspect-state"), "utf8")).to.include("Corruption");
  });

  it("notes what RocksDB finds in the state in the background, where no start looks, and heals (P46)", async () => {
    await damageTable(path("state-1"), Uint8Array.of(0x64, 0), () => Rocks.open(path("state-1"), ROCKS));
    const fatal: StoreError[] = [];
    const running = await openJoinedMember(directory, (error) => fatal.push(error));
    opened.push(running);
    await untilDamageIsFound((name) => running.stateProperty(name));
    running.state.sync(() => expect.fail("nothing was synced"));
    await until("the failure", () => fatal.length > 0);
    expect(fatal.map(({ kind }) => kind)).to.deep.equal(["corruption"]);
    expect(readFileSync(path("suspect-state"), "utf8")).to.match(/\.sst/);
    await closeAll();
    const next = await open();
    expect(next).to.include({ damaged: true, term: 3, vote: 2 });
    expect(next.loss)
      .to.include(path("lost-1"))
      .and.to.match(/Corruption: .*\.sst/);
    await heal(next);
    await closeAll();
    expect(await open()).to.include({ damaged: false, loss: "" });
  });

  it("fails, and closes what it opened, when the thread of the log fails in the midst of it", async () => {
    const log = await openLog(directory, false);
    const stores: Closable[] = [log];
    const [segment] = segmentsOf(directory) as [string];
    // It stays open for reading; the thread opens it by its name.
    log.read(1, 1, 0);
    renameSync(segment, path("away"));
    mkdirSync(segment);
    try {
      const identity = readIdentity(directory) ?? expect.fail("the member has an identity");
      const fatal: StoreError[] = [];
      const start = {
        directory,
        identity,
        soleVoterWithoutMirror: null,
        onFatal: (error: StoreError) => fatal.push(error),
      };
      const failure = await startMember(start, { value: log, damage: null }, stores).catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(StoreError).and.to.have.property("kind", "io");
      expect(failure).to.have.property("message").that.includes("could not be stored: the log thread failed: EISDIR");
      expect(fatal.map(({ kind }) => kind)).to.deep.equal(["io"]);
    } finally {
      for (const store of stores) {
        await store.close();
      }
    }
    rmdirSync(segment);
    renameSync(path("away"), segment);
    expect(await open()).to.include({ damaged: false, term: 3, vote: 2 });
  });
});
