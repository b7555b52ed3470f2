/**
 * Files of a stopped member are damaged: bits flipped, ends cut off, files deleted, at many random places. The result
 * may be the same content, a refusal with a reason, or an error of the store. It is never fewer rows, and never a start
 * that does not end.
 */

import { cpSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { drawnSeed, importing, temporaryDirectory } from "../../../testing/index.ts";
import { type MemberData, StoreError } from "../../src/storage/index.ts";
import { appendTo, JOINED_MEMBER, makeJoinedMember, openJoined, TestProcess } from "../harness/index.ts";
import { rowsOf } from "../index.ts";
import type { ReportedState } from "./reported-state.ts";
import type { WriterTask } from "./writer-task.ts";

const WRITER = fileURLToPath(new URL("./crash-writer.ts", import.meta.url));
const TELLER = fileURLToPath(new URL("./open-and-report.ts", import.meta.url));
const KILLER = fileURLToPath(new URL("./kill-at-mark.ts", import.meta.url));
/** Determines the random places; set it to repeat a failed run. */
const SEED = drawnSeed("damaged files");
/** One bit flips in each of this many parts of a file, and one in a note of RocksDB. */
const FLIPPED_SHARES = 2;
const CUTS = 1;
/** A refusal after a flipped bit must name one of these. */
const DAMAGED_FILE = /\d+\.log|\d+\.sst|MANIFEST-\d+|CURRENT|identity|fence|the file `state`/;

interface Damage {
  readonly what: string;
  readonly directory: string;
}

/** Whole numbers below a bound, the same for the same seed (Park and Miller 1988). */
function randomFrom(seed: number): (bound: number) => number {
  let state = (seed % 2_147_483_646) + 1;
  return (bound) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % bound;
  };
}

function flipBit(path: string, bit: number): void {
  const bytes = readFileSync(path);
  bytes[bit >> 3] = (bytes[bit >> 3] as number) ^ (1 << (bit & 7));
  writeFileSync(path, bytes);
}

/** Non-empty files below the directory. */
function allFilesOf(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => statSync(path).size > 0)
    .map((path) => path.slice(directory.length + 1))
    .sort();
}

/** RocksDB's own notes, whose content does not matter. */
const NOTE = /(^|\/)(LOG|IDENTITY$|OPTIONS)[^/]*$/;

/** Files whose content matters. */
function filesOf(directory: string): string[] {
  return allFilesOf(directory).filter((file) => !NOTE.test(file));
}

describe(`damage to a data directory (seed ${SEED})`, function () {
  this.timeout(120_000);
  const running = TestProcess.ofEachTest();

  async function run(program: string, args: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<TestProcess> {
    const child = new TestProcess(program, args, { env: { ...process.env, ...more } });
    running.push(child);
    await child.ended;
    return child;
  }

  /**
   * A member that ran this often and was killed in the end, with rows in tables and in logs of both stores. In its last
   * run there is only one writer, and the end comes before its answer: so every write that may be lost is
   * unacknowledged.
   */
  async function makeMember(isCompacting: boolean, runs: number): Promise<string> {
    const directory = join(temporaryDirectory(), "data");
    let said = "";
    for (let round = 1; round <= runs; round++) {
      const isLast = round === runs;
      const writers = isLast ? writersOf(said).slice(0, 1) : writersOf(said);
      const task: WriterTask = { directory, writers, isCompacting, values: isLast ? 1_000 : 20 };
      const kill = isLast ? { NODE_OPTIONS: importing(KILLER), QUOIN_TEST_KILL: "replica.answers.before:300" } : {};
      const child = await run(WRITER, [JSON.stringify(task)], kill);
      expect((await child.ended).signal, child.stderr).to.equal(isLast ? "SIGKILL" : null);
      said += child.stdout;
    }
    return directory;
  }

  function writersOf(said: string): WriterTask["writers"] {
    return [0, 1, 2].map((writer) => {
      const lines = [...said.matchAll(new RegExp(`^ack ${writer} (\\d+) (\\d+)$`, "gm"))];
      const acknowledged = lines.map(([, value, modRevision]) => {
        return { value: Number(value), modRevision: Number(modRevision) };
      });
      return { tried: acknowledged.length, acknowledged };
    });
  }

  /** The results of opening each directory. Fails if a process ends without output, or does not end. */
  async function open(damages: readonly Damage[]): Promise<readonly ReportedState[]> {
    const told: ReportedState[] = [];
    while (told.length < damages.length) {
      const rest = damages.slice(told.length);
      const child = await run(
        TELLER,
        rest.map(({ directory }) => directory),
      );
      const lines = child.stdout.split("\n").filter((line) => line !== "");
      const { code } = await child.ended;
      const { what } = rest[Math.min(lines.length, rest.length - 1)] as Damage;
      expect(code, `${what}: ${child.stderr}`).to.equal(0);
      expect(lines.length, `${what}: ${child.stderr}`).to.be.greaterThan(0);
      told.push(...lines.map((line) => JSON.parse(line) as ReportedState));
    }
    return told;
  }

  async function check(original: string, damages: readonly Damage[]): Promise<Map<string, number>> {
    const copy = join(temporaryDirectory(), "data");
    cpSync(original, copy, { recursive: true });
    const [expected, ...outcomes] = await open([{ what: "no damage", directory: copy }, ...damages]);
    expect(expected?.kind).to.equal("served");
    const counts = new Map<string, number>();
    for (const [at, outcome] of outcomes.entries()) {
      const { what } = damages[at] as Damage;
      counts.set(outcome.kind, (counts.get(outcome.kind) ?? 0) + 1);
      switch (outcome.kind) {
        case "served":
          expect(outcome, what).to.deep.equal(expected);
          break;
        case "refused":
          expect(["MEMBER_DAMAGED", "MEMBER_REFUSED"], what).to.include(outcome.state);
          expect(outcome.reason.length, what).to.be.greaterThan(50);
          if (what.startsWith("bit ")) {
            expect(outcome.reason, what).to.match(DAMAGED_FILE);
          }
          break;
        case "error":
          expect(["corruption", "io"], `${what}: ${outcome.message}`).to.include(outcome.error);
          break;
      }
    }
    return counts;
  }

  /** Copies the member, once for each damage, and applies the damage. */
  function damage(original: string, what: string, action: (directory: string) => void): Damage {
    const directory = join(temporaryDirectory(), "data");
    cpSync(original, directory, { recursive: true });
    action(directory);
    return { what, directory };
  }

  // After two runs the state is one table and a log; after three, RocksDB has merged tables. Different damage shows in
  // each.
  for (const [isCompacting, runs] of [
    [true, 3],
    [false, 2],
  ] as const) {
    const log = isCompacting ? "is shortened again and again" : "keeps everything";
    describe(`of a member that ran ${runs} times and whose log ${log}`, () => {
      const random = randomFrom(SEED + runs + Number(isCompacting));
      let original: string;
      before(async () => {
        original = await makeMember(isCompacting, runs);
      });

      it("is found when single bits are flipped anywhere", async () => {
        const damages = allFilesOf(original).flatMap((file) => {
          const shares = NOTE.test(file) ? 1 : FLIPPED_SHARES;
          return Array.from({ length: shares }, (_, share) => {
            const shareBits = Math.floor((statSync(join(original, file)).size * 8) / shares);
            const bit = share * shareBits + random(shareBits);
            return damage(original, `bit ${bit} of ${file}`, (directory) => flipBit(join(directory, file), bit));
          });
        });
        const counts = await check(original, damages);
        expect(counts.get("refused"), "refused").to.be.greaterThan(0);
      });

      it("is found when the end of a file is cut off anywhere", async () => {
        const damages = filesOf(original).flatMap((file) =>
          [1, ...Array.from({ length: CUTS }, () => random(statSync(join(original, file)).size))].map((cut) => {
            const { size } = statSync(join(original, file));
            return damage(original, `${cut} bytes off ${file}`, (directory) => {
              truncateSync(join(directory, file), Math.max(0, size - cut));
            });
          }),
        );
        const counts = await check(original, damages);
        expect(counts.get("refused"), "refused").to.be.greaterThan(0);
      });

      it("is found when a file is deleted, or all of a kind", async () => {
        const files = filesOf(original);
        const kinds = [/^log\/[0-9]+\.log$/, /^state-1\/.*\.log$/, /^state-1\/.*\.sst$/, /MANIFEST/, /CURRENT$/];
        const groups = [
          ...files.map((file) => [file]),
          ...kinds.map((kind) => files.filter((file) => kind.test(file))),
        ];
        const damages = groups.map((group) =>
          damage(original, `without ${group.join(", ")}`, (directory) => {
            for (const file of group) {
              rmSync(join(directory, file));
            }
          }),
        );
        const counts = await check(original, damages);
        expect(counts.get("refused"), "refused").to.be.greaterThan(files.length / 2);
      });

      it("is found in any bit of the state's manifest, and wherever that is cut off", async () => {
        const file = filesOf(original).find((name) => /^state-1\/MANIFEST/.test(name)) as string;
        const { size } = statSync(join(original, file));
        const bits = Array.from({ length: 15 }, () => random(size * 8));
        const cuts = Array.from({ length: 5 }, () => random(size));
        await check(original, [
          ...bits.map((bit) => damage(original, `bit ${bit} of ${file}`, (copy) => flipBit(join(copy, file), bit))),
          ...cuts.map((cut) => {
            return damage(original, `${cut} bytes off ${file}`, (copy) => truncateSync(join(copy, file), size - cut));
          }),
        ]);
      });
    });
  }

  describe("of one member of several", () => {
    const random = randomFrom(SEED);
    let original: string;
    let expected: readonly string[];

    before(async () => {
      original = join(temporaryDirectory(), "data");
      await makeJoinedMember(original);
      const directory = join(temporaryDirectory(), "data");
      cpSync(original, directory, { recursive: true });
      const opened = await openJoined(directory);
      if (opened.phase !== "member") {
        throw new Error(`the directory is ${opened.phase}`);
      }
      expected = contentOf(opened.data);
      await opened.data.close();
    });

    /** Rows of the log and of the state, as text for a comparison. */
    function contentOf(data: MemberData): string[] {
      const { first, last } = data.bounds;
      const entries = data.log.entries(first, last, Number.MAX_SAFE_INTEGER);
      const rows = rowsOf(data.state).map(({ key, value }) => Buffer.concat([key, value]));
      return [...entries, ...rows].map((bytes) => Buffer.from(bytes).toString("hex"));
    }

    /** The member is whole, or damaged with its term and vote unchanged. */
    async function checkMember(data: MemberData, what: string): Promise<void> {
      const { term, vote, applied, appliedTerm } = JOINED_MEMBER;
      expect([data.term, data.vote], what).to.deep.equal([term, vote]);
      if (!data.damaged) {
        // The log has the entries that the state has lost at its end.
        await appendTo(data, data.bounds.last, term);
        expect(contentOf(data), what).to.deep.equal(expected);
        return;
      }
      const behindState = { first: applied + 1, prevTerm: appliedTerm, last: applied, lastTerm: appliedTerm };
      const behindSynced = { first: 11, prevTerm: 1, last: 10, lastTerm: 1 };
      const empty = { first: 1, prevTerm: 0, last: 0, lastTerm: 0 };
      expect([behindState, behindSynced, empty], what).to.deep.include(data.bounds);
    }

    async function check({ what, directory }: Damage): Promise<string> {
      let opened: Awaited<ReturnType<typeof openJoined>>;
      try {
        opened = await openJoined(directory);
      } catch (error) {
        expect(error, what).to.be.instanceOf(StoreError);
        return "error";
      }
      switch (opened.phase) {
        case "refused":
          expect(["MEMBER_DAMAGED", "MEMBER_REFUSED"], what).to.include(opened.state);
          expect(opened.reason.length, what).to.be.greaterThan(50);
          return "refused";
        case "empty":
          await opened.close();
          throw new Error(`${what}: it looks empty`);
        case "member":
          try {
            await checkMember(opened.data, what);
            return opened.data.damaged ? "damaged" : "whole";
          } finally {
            await opened.data.close();
          }
      }
    }

    it("is never taken for less than it was, wherever a bit is flipped or an end is cut off (P33, P46)", async () => {
      const counts = new Map<string, number>();
      for (const file of filesOf(original)) {
        const { size } = statSync(join(original, file));
        const [bit, cut] = [random(size * 8), 1 + random(size)];
        for (const done of [
          damage(original, `bit ${bit} of ${file}`, (copy) => flipBit(join(copy, file), bit)),
          damage(original, `${cut} bytes off ${file}`, (copy) => truncateSync(join(copy, file), size - cut)),
        ]) {
          const outcome = await check(done);
          counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
        }
      }
      expect(counts.get("damaged"), JSON.stringify([...counts])).to.be.greaterThan(2);
    });
  });
});
