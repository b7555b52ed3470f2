/**
 * A directory of format 3 has its Raft log in RocksDB. A start converts it, also after it was killed at any step of that.
 * Where a release of that format would still accept the directory, its log must be there.
 */

import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { importing, temporaryDirectory } from "../../../testing/index.ts";
import { CONVERSION_CRASH_POINTS, MIRROR_FILE, readMirror, writeMirror } from "../../src/storage/files/index.ts";
import { type MemberData, openDataDirectory, Rocks, StoreError } from "../../src/storage/index.ts";
import { DIRECTORY_FILE, goldenVersions, OPENING, openMember, unpackDirectory } from "../golden/index.ts";
import { TestProcess } from "../harness/index.ts";

const OPENER = fileURLToPath(new URL("./former-log-opener.ts", import.meta.url));
const KILLER = fileURLToPath(new URL("./kill-at-mark.ts", import.meta.url));
const VERSION = "0.1.0";
/** The marks of the conversion, and the steps by which the identity gets its new format. */
const MARKS = [...CONVERSION_CRASH_POINTS, "file.write.before", "file.rename.before", "file.rename.after"];

describe("a Raft log of the former format", function () {
  this.timeout(60_000);
  const running = TestProcess.ofEachTest();
  const golden = goldenVersions().find(({ version }) => version === VERSION) ?? expect.fail("the version has files");
  let directory: string;
  const opened: MemberData[] = [];

  beforeEach(() => {
    directory = join(temporaryDirectory(), "data");
    unpackDirectory(join(golden.directory, DIRECTORY_FILE), directory);
    expect([formatOf(), existsSync(join(directory, "raft"))]).to.deep.equal([3, true]);
  });
  afterEach(async () => {
    for (const data of opened.splice(0)) {
      await data.close();
    }
  });

  function formatOf(): number {
    return JSON.parse(readFileSync(join(directory, "identity"), "utf8")).format;
  }

  async function open(): Promise<MemberData> {
    const data = await openMember(directory);
    opened.push(data);
    return data;
  }

  async function killAt(mark: string): Promise<void> {
    const env = { ...process.env, NODE_OPTIONS: importing(KILLER), QUOIN_TEST_KILL: `${mark}:1` };
    const child = new TestProcess(OPENER, [directory], { env });
    running.push(child);
    const { signal } = await child.ended;
    expect(signal, `${mark}: ${child.stdout}${child.stderr}`).to.equal("SIGKILL");
  }

  /** The whole golden log is there, and nothing of the former format. */
  function expectConverted({ log }: MemberData, what: string): void {
    expect(log.bounds, what).to.include({ first: 1, last: golden.entries.length });
    const rows = log.entries(1, golden.entries.length, Number.MAX_SAFE_INTEGER).map((row) => Buffer.from(row));
    expect(rows, what).to.deep.equal(golden.entries.map(({ bytes }) => Buffer.from(bytes)));
    expect(readdirSync(directory).sort(), what).to.deep.equal(["fence", "identity", "log", "state", "state-1"]);
    expect(formatOf()).to.equal(4);
  }

  it("is converted by a start, with the hard state and the count of writes", async () => {
    const before = readMirror(join(directory, MIRROR_FILE));
    const data = await open();
    expectConverted(data, "converted");
    expect(data).to.include({ term: before?.term, vote: before?.vote, boot: (before?.boot ?? 0) + 1, damaged: false });
    expect(data.writeSeq).to.equal((before?.writeSeq ?? 0) + 1);
  });

  for (const mark of MARKS) {
    it(`is converted by the next start after a kill at ${mark}`, async () => {
      await killAt(mark);
      expect(formatOf() === 4 || existsSync(join(directory, "raft/CURRENT")), "a former release finds it").to.equal(
        true,
      );
      if (existsSync(join(directory, "raft"))) {
        await killAt(mark);
      }
      expectConverted(await open(), mark);
    });
  }

  it("counts as long as it is there: what an interrupted conversion left is made anew", async () => {
    await killAt("convert.placed.after");
    expect(formatOf()).to.equal(3);
    // A release of that format goes on with its log.
    const former = await Rocks.open(join(directory, "raft"), {
      createIfMissing: false,
      memtableBytes: 1e6,
      cacheBytes: 1e6,
    });
    expect(await openMember(directory).catch((error: unknown) => error))
      .to.be.instanceOf(StoreError)
      .with.property("kind", "locked");
    await former.close();
    for (const name of readdirSync(join(directory, "log")).filter((file) => file.endsWith(".log"))) {
      writeFileSync(join(directory, "log", name), "another log");
    }
    expectConverted(await open(), "again");
  });

  it("that is damaged is refused, and stays with the files as they were", async () => {
    const wal = readdirSync(join(directory, "raft")).find((name) => name.endsWith(".log")) ?? "";
    const path = join(directory, "raft", wal);
    const bytes = readFileSync(path);
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] as number) ^ 1;
    writeFileSync(path, bytes);
    const found = await openDataDirectory({ directory, ...OPENING, onFatal: () => undefined });
    expect(found).to.include({ phase: "refused", state: "MEMBER_DAMAGED" });
    expect(readFileSync(join(directory, "raft-before-recovery", wal))).to.deep.equal(bytes);
  });

  it("that is lost heals from the other members, if there are any", async () => {
    const mirror = readMirror(join(directory, MIRROR_FILE)) ?? expect.fail("the mirror is there");
    const several = { ...mirror, isSoleVoter: false };
    writeMirror(join(directory, MIRROR_FILE), { ...several, counter: mirror.counter + 1 });
    writeMirror(join(directory, MIRROR_FILE), { ...several, counter: mirror.counter + 2 });
    rmSync(join(directory, "raft"), { recursive: true });
    const data = await open();
    expect(data).to.include({ damaged: true, term: mirror.term, vote: mirror.vote });
    expect(formatOf()).to.equal(4);
  });
});
