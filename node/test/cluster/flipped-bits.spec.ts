/**
 * A bit flips in each kind of file of a member, while it is down and while it runs.
 *
 * A supervisor starts the process again when it ends. After at most one such start, the member serves everything again,
 * or it is refused with a message that names the file. It never ends again and again, and never serves less or other
 * data than was written.
 */

import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@quoin/client";
import { expect } from "chai";
import { drawnSeed, temporaryDirectory } from "../../../testing/index.ts";
import { seededRandom } from "../../src/replica/index.ts";
import { Rocks } from "../../src/storage/index.ts";
import {
  type ClusterMember,
  ClusterUnderTest,
  damageTable,
  flipInPlace,
  MemberUnderTest,
  until,
  usedBytes,
} from "../harness/index.ts";

/** Determines the bits; set it to repeat a failed run. */
const SEED = drawnSeed("flipped bits");
const STORE_FAILED = 71;
/** Enough bytes for several blocks of a table. */
const VALUE_BYTES = 1_000;
const KEYS = 60;
const KEYS_AGAIN = 6;
/** Options to open a store for damage by hand, with less memory than a member takes. */
const ROCKS = { createIfMissing: false, memtableBytes: 4 << 20, cacheBytes: 1 << 20 };
const MIRROR_SLOT_BYTES = 512;
const MIRROR_SLOT_STRIDE = 4096;

type Part = "head" | "middle" | "tail";

/** The place of a flip: a part of the newest file of this pattern below the data directory. */
interface Place {
  readonly file: RegExp;
  readonly part: Part;
}

/** The outcome of a flip. */
type Outcome = "unharmed" | "healed" | "refused";

const LOGS = [/^log\/[0-9]+\.log$/, /^state-\d+\/.*\.log$/] as const;
const TABLE = /^state-\d+\/.*\.sst$/;
const MANIFEST = /^state-\d+\/MANIFEST/;
const CURRENT = /^state-\d+\/CURRENT$/;
const PARTS = ["head", "middle", "tail"] as const;
/** Files that RocksDB writes for people or for its own identity: no start depends on them. */
const NOTES = /\/(OPTIONS|IDENTITY|LOG)[^/]*$/;

/**
 * One part of each kind of file: the specs of `node/src/storage/` and `node/test/storage/` flip bits in all parts. The
 * seed says which part, and which of two files, so exploration goes through all of them.
 */
const either = <T>([first, second]: readonly [T, T], turn: number): T => ((SEED + turn) % 2 === 0 ? first : second);
const WHILE_STOPPED: readonly Place[] = [
  ...[...LOGS, TABLE].map((file, at) => ({ file, part: PARTS[(SEED + at) % PARTS.length] as Part })),
  { file: MANIFEST, part: either(["middle", "tail"], SEED >> 1) },
  { file: CURRENT, part: "middle" },
  { file: /^state$/, part: "middle" },
  { file: /^identity$/, part: "middle" },
];
/** Tables have cases of their own; other files are read at starts only. */
const WHILE_RUNNING: readonly Place[] = [either(LOGS, 0), either([MANIFEST, CURRENT], 1), /^identity$/].map((file) => ({
  file,
  part: "middle",
}));

const random = seededRandom(SEED);

/** The newest non-empty file of the pattern below the directory, relative to it; null if there is none. */
function newestFile(directory: string, pattern: RegExp): string | null {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(directory.length + 1))
    .filter((file) => pattern.test(file) && statSync(join(directory, file)).size > 0)
    .sort();
  return files.at(-1) ?? null;
}

/**
 * A bit in that part of a file: its first 64 bytes, its last 64, or those in between. Zeros behind the last record of the
 * log do not count.
 */
function bitOf(path: string, part: Part): number {
  const size = usedBytes(path);
  const edge = Math.min(64, Math.floor(size / 3));
  const [from, to] = { head: [0, edge], middle: [edge, size - edge], tail: [size - edge, size] }[part] as [
    number,
    number,
  ];
  return (from + random(to - from)) * 8 + random(8);
}

/** Writes all keys the first time, and later the next few of them again, with other values. */
async function writeKeys(client: Client, written: Map<string, string>): Promise<void> {
  const count = written.size === 0 ? KEYS : KEYS_AGAIN;
  const oldest = [...written.keys()].slice(0, count);
  await Promise.all(
    Array.from({ length: count }, async (_, at) => {
      const key = oldest[at] ?? `key-${at}`;
      const value = Buffer.from(Array.from({ length: VALUE_BYTES }, () => 97 + random(26))).toString();
      // Moved behind all others, so that each gets its turn.
      written.delete(key);
      written.set(key, value);
      await client.keyValue.put("default", key, value);
    }),
  );
}

/** Reads everything that was written, linearizably; fails if anything is missing or different. */
async function requireKeys(client: Client, written: ReadonlyMap<string, string>): Promise<void> {
  const keys = [...written.keys()];
  const found = await Promise.all(keys.map((key) => client.keyValue.get("default", key)));
  const wrong = keys.filter((key, at) => Buffer.from(found[at]?.value ?? []).toString() !== written.get(key));
  expect(wrong).to.deep.equal([]);
}

describe(`a bit that flips in a file of a member (seed ${SEED})`, function () {
  this.timeout(180_000);

  describe("of three", () => {
    const written = new Map<string, string>();
    const outcomes = new Map<Outcome, number>();
    let cluster: ClusterUnderTest;
    let victim: ClusterMember;
    let others: Client;

    before(async () => {
      cluster = await ClusterUnderTest.start(3);
      victim = await cluster.follower();
      others = cluster.client(cluster.endpoints.filter((endpoint) => endpoint !== victim.grpc));
      await writeKeys(others, written);
    });
    ClusterUnderTest.describeFailures(() => cluster);
    after(() => cluster.dispose());

    /** Kills the member with data in the log and in the write-ahead log of the state, and on request in a table too. */
    async function stop(needsTable: boolean): Promise<void> {
      for (;;) {
        await writeKeys(others, written);
        await cluster.untilCaughtUp(victim.name);
        await victim.kill();
        if (!needsTable || newestFile(victim.dataDirectory, TABLE) !== null) {
          return;
        }
        // A start writes the contents of the write-ahead log to a table.
        victim.start();
        await victim.untilReady();
      }
    }

    /** Starts the member, and again if its process ends by itself; returns the outcome, and its output. */
    async function supervise(): Promise<{ readonly outcome: Outcome; readonly said: string }> {
      let said = "";
      for (let ends = 0; ; ends++) {
        if (!victim.isAlive) {
          victim.start();
        }
        const outcome = await outcomeOfStart();
        said += victim.output;
        if (outcome !== null) {
          outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
          return { outcome: outcome === "unharmed" && ends > 0 ? "healed" : outcome, said };
        }
        expect(ends, `it ended again:\n${said}`).to.equal(0);
        expect((await victim.ended).code, said).to.equal(STORE_FAILED);
      }
    }

    /** The outcome of the running process; null if it ends. */
    function outcomeOfStart(): Promise<Outcome | null> {
      return until(`${victim.name} to serve, to be refused, or to end`, async () => {
        if (!victim.isAlive) {
          return { value: null };
        }
        if (await victim.isReady()) {
          return { value: victim.output.includes("MEMBER_DAMAGED") ? ("healed" as const) : ("unharmed" as const) };
        }
        const state = (await victim.status())?.state;
        return state === "MEMBER_REFUSED" ? { value: "refused" as const } : null;
      }).then(({ value }) => value);
    }

    /** The member serves everything that was written, and goes on with the others. */
    async function requireWhole(): Promise<void> {
      await writeKeys(others, written);
      await requireKeys(cluster.client([victim.grpc]), written);
    }

    async function settle(path: string, bit: number): Promise<{ readonly outcome: Outcome; readonly said: string }> {
      const result = await supervise();
      if (result.outcome === "refused") {
        const alarms = ((await victim.status())?.alarms ?? []).join("; ");
        expect(alarms).to.include(`the file ${path} is damaged`).and.to.include("Restore that file");
        // The member left the file as it was, so a repair of the disk is enough.
        await victim.kill();
        flipInPlace(path, bit);
        victim.start();
        await victim.untilReady();
      }
      await requireWhole();
      return result;
    }

    for (const { file, part } of WHILE_STOPPED) {
      it(`${file}, ${part}, while it is down: heals, or is refused by name`, async () => {
        await stop(file.source.includes("sst"));
        const path = join(victim.dataDirectory, newestFile(victim.dataDirectory, file) as string);
        const bit = bitOf(path, part);
        flipInPlace(path, bit);
        const { outcome, said } = await settle(path, bit);
        if (outcome === "healed") {
          expect(said, `${path} bit ${bit}`).to.match(/\.log|\.sst|MANIFEST|CURRENT|the file `state`/);
        }
      });
    }

    it("mirror, one slot of two, while it is down: the other one is enough", async () => {
      await stop(false);
      flipInPlace(
        join(victim.dataDirectory, "fence"),
        (either([0, 1], 0) * MIRROR_SLOT_STRIDE + random(MIRROR_SLOT_BYTES)) * 8 + random(8),
      );
      expect((await supervise()).outcome).to.equal("unharmed");
      await requireWhole();
    });

    it("notes of RocksDB, all of them, while it is down and while it runs: nothing depends on them", async () => {
      const flipAll = (): void => {
        const { dataDirectory } = victim;
        for (const name of readdirSync(dataDirectory, { recursive: true, encoding: "utf8" })) {
          const path = join(dataDirectory, name);
          if (NOTES.test(name) && !name.startsWith("lost-") && statSync(path).size > 0) {
            flipInPlace(path, bitOf(path, "middle"));
          }
        }
      };
      await stop(true);
      flipAll();
      expect((await supervise()).outcome).to.equal("unharmed");
      flipAll();
      await requireWhole();
      await victim.restart();
      expect((await supervise()).outcome).to.equal("unharmed");
      await requireWhole();
    });

    for (const { file, part } of WHILE_RUNNING) {
      it(`${file}, ${part}, while it runs: heals at its next start, or is refused by name`, async () => {
        await writeKeys(others, written);
        await cluster.untilCaughtUp(victim.name);
        const path = join(victim.dataDirectory, newestFile(victim.dataDirectory, file) as string);
        const bit = bitOf(path, part);
        flipInPlace(path, bit);
        await requireWhole();
        await victim.kill();
        await settle(path, bit);
      });
    }

    it("a table of the state, while it runs: the read that meets it ends the process, and the next start heals", async () => {
      await stop(true);
      victim.start();
      await victim.untilReady();
      const { dataDirectory } = victim;
      for (const name of readdirSync(dataDirectory, { recursive: true, encoding: "utf8" })) {
        if (/^state-\d+\/.*\.sst$/.test(name)) {
          // A byte in every fourth KiB, so in each block.
          const { size } = statSync(join(dataDirectory, name));
          for (let byte = 0; byte < size / 2; byte += 4_096) {
            flipInPlace(join(dataDirectory, name), byte * 8);
          }
        }
      }
      const reader = cluster.client([victim.grpc]);
      const reading = Promise.allSettled([...written.keys()].map((key) => reader.keyValue.get("default", key)));
      await until("the process to end", () => !victim.isAlive);
      expect((await victim.ended).code, victim.logTail()).to.equal(STORE_FAILED);
      expect(victim.output).to.match(/the store has failed \(corruption\).*\.sst/);
      expect((await supervise()).outcome).to.equal("healed");
      await reading;
      await requireWhole();
    });

    it("a table of the state that only merging reads: ends the process once, and the next start heals", async () => {
      await stop(true);
      const { dataDirectory } = victim;
      const directory = join(dataDirectory, readFileSync(join(dataDirectory, "state"), "utf8").trim());
      await damageTable(directory, Uint8Array.of(0x64, 0xff), () => Rocks.open(directory, ROCKS));
      victim.start();
      // The next write to the store ends the process, which is a write of other members.
      await until("the process to end", async () => {
        await writeKeys(others, written);
        return !victim.isAlive;
      });
      expect((await victim.ended).code, victim.logTail()).to.equal(STORE_FAILED);
      expect(victim.output).to.match(/the store has failed \(corruption\).*Corruption.*\.sst/);
      const { outcome, said } = await supervise();
      expect(outcome).to.equal("healed");
      expect(said).to.match(/"MEMBER_DAMAGED","reason":"[^"]*Corruption[^"]*\.sst/);
      await requireWhole();
      expect(readdirSync(dataDirectory).filter((file) => file.startsWith("suspect"))).to.deep.equal([]);
    });

    it("has come to each end in these cases, and leaves the member with its vote", async () => {
      expect([...outcomes.keys()]).to.have.members(["unharmed", "healed", "refused"]);
      // Its address refused connections while it was down: the channel of the status may still wait before it connects
      // again.
      await victim.untilState("RUNNING");
      expect(existsSync(join(victim.dataDirectory, "lost-1/reason"))).to.equal(true);
    });
  });

  describe("that is the only voter", () => {
    it("in the log: is refused by name, again and again, and leaves the file as it was", async () => {
      const member = new MemberUnderTest(temporaryDirectory());
      try {
        await member.start();
        await member.kill();
        const path = join(member.dataDirectory, newestFile(member.dataDirectory, LOGS[0]) ?? "");
        flipInPlace(path, bitOf(path, PARTS[SEED % PARTS.length] ?? "middle"));
        const damaged = readFileSync(path);
        for (let start = 0; start < 2; start++) {
          const refused = await member.start().then(
            () => "",
            (error: unknown) => String(error),
          );
          expect(refused).to.match(/the member is MEMBER_DAMAGED: .*log\/[0-9]+\.log.*restore the directory/s);
          expect(readFileSync(path)).to.deep.equal(damaged);
          await member.kill();
        }
      } finally {
        await member.kill();
      }
    });
  });
});
