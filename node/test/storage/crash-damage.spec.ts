/**
 * A process is killed at every step of joining, of a start that finds lost data, and of healing. The next one must
 * complete the step. There is never a member without its mirror, never unnoticed data loss, and never a second vote.
 */

import { cpSync, existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { importing, temporaryDirectory } from "../../../testing/index.ts";
import { DAMAGE_CRASH_POINTS } from "../../src/storage/index.ts";
import { JOINED_MEMBER, makeJoinedMember, TestProcess } from "../harness/index.ts";
import type { StartedMember } from "./started-member.ts";

const JOINER = fileURLToPath(new URL("./crash-joiner.ts", import.meta.url));
const KILLER = fileURLToPath(new URL("./kill-at-mark.ts", import.meta.url));
const EMPTY = { first: 1, prevTerm: 0, last: 0, lastTerm: 0 };
const { applied, appliedTerm, term, vote } = JOINED_MEMBER;
const BEHIND_STATE = { first: applied + 1, prevTerm: appliedTerm, last: applied, lastTerm: appliedTerm };

/** The points that joining passes, and how often. */
const JOINING = [
  ["file.write.before", 3],
  ["file.link.before", 1],
  ["file.link.after", 1],
  ["file.rename.before", 2],
  ["file.rename.after", 2],
  ["file.directory-sync.after", 2],
  ["found.log.before", 1],
  ["log.batch.before", 1],
  ["log.batch.after", 1],
  ["mirror.write.before", 1],
  ["mirror.write.after", 1],
  ["mirror.sync.before", 1],
  ["mirror.sync.after", 1],
  ["found.log.after", 1],
  ["found.state.after", 1],
  ["found.identity.after", 1],
] as const;
const DAMAGED = DAMAGE_CRASH_POINTS.map((mark) => [mark, 1] as const);
/** Additional points of each such start: its files, and its first write of the log. */
const WRITING = [
  ["file.rename.before", 1],
  ["file.rename.after", 1],
  ["log.batch.before", 1],
  ["log.batch.after", 1],
  ["mirror.write.before", 1],
  ["mirror.write.after", 1],
  ["log.ack.after", 1],
] as const;
/** The start writes the log and the mirror first; healing removes the mark with the second write of the mirror. */
const HEALING = [
  ["mirror.write.before", 2, true],
  ["mirror.write.after", 2, false],
  ["mirror.sync.after", 2, false],
] as const;
const LOSSES = [
  {
    what: "the log was",
    names: ["log/0000000001.log"],
    marks: [...DAMAGED, ...WRITING],
    bounds: BEHIND_STATE,
    position: applied,
  },
  {
    what: "the state was",
    names: ["state-1"],
    marks: [...DAMAGED, ["damage.move.before", 2]],
    bounds: EMPTY,
    position: 0,
  },
  {
    what: "both stores were",
    names: ["log", "state", "state-1"],
    marks: [
      ["damage.mark.before", 1],
      ["damage.moved", 1],
    ],
    bounds: EMPTY,
    position: 0,
  },
] as const;

/** What is there after a kill: a process is to start in each directory, and each start is checked. */
interface Interrupted {
  readonly what: string;
  readonly directory: string;
  readonly check: (next: StartedMember | null) => void;
}

interface Run {
  readonly signal: NodeJS.Signals | null;
  readonly lines: readonly string[];
  readonly output: string;
}

describe("crash points of a member of several", function () {
  this.timeout(120_000);
  const running = TestProcess.ofEachTest();
  /** Of all tests. One process starts in all directories: most of the time of a process is its own start. */
  const interrupted: Interrupted[] = [];
  let original: string;
  let directory: string;

  before(async () => {
    original = join(temporaryDirectory(), "data");
    await makeJoinedMember(original);
  });
  beforeEach(() => {
    directory = join(temporaryDirectory(), "data");
  });

  async function run(
    among: readonly string[],
    kill?: { readonly mark: string; readonly passing: number },
  ): Promise<Run> {
    const killing =
      kill === undefined ? {} : { NODE_OPTIONS: importing(KILLER), QUOIN_TEST_KILL: `${kill.mark}:${kill.passing}` };
    const env = { ...process.env, ...killing };
    const child = new TestProcess(JOINER, among, { env });
    running.push(child);
    const { signal } = await child.ended;
    const lines = child.stdout.split("\n").filter((line) => line !== "");
    return { signal, lines, output: `${child.stdout}\n${child.stderr}` };
  }

  async function killAt(mark: string, passing: number): Promise<Run> {
    const killed = await run([directory], { mark, passing });
    expect(killed.signal, `${mark} was not passed ${passing} times:\n${killed.output}`).to.equal("SIGKILL");
    return killed;
  }

  /** Runs a process to its end; returns what it reported at each of its starts, unless it joined there. */
  async function finish(left: readonly Interrupted[]): Promise<(StartedMember | null)[]> {
    const { signal, lines, output } = await run(left.map((each) => each.directory));
    expect(signal, output).to.equal(null);
    const starts = lines
      .join("\n")
      .split(/^done$/m)
      .slice(0, -1);
    expect(starts.length, output).to.equal(left.length);
    return starts.map((said) => {
      const started = /^started (.*)$/m.exec(said)?.[1];
      return started === undefined ? null : (JSON.parse(started) as StartedMember);
    });
  }

  function lose(names: readonly string[]): void {
    for (const name of names) {
      rmSync(join(directory, name), { recursive: true });
    }
  }

  for (const [mark, passings] of JOINING) {
    it(`${mark}: joining is completed, or can be repeated`, async () => {
      for (let passing = 1; passing <= passings; passing++) {
        directory = join(temporaryDirectory(), "data");
        const { lines } = await killAt(mark, passing);
        expect(lines, "it is not reported before the end").not.to.include("joined");
        const left = directory;
        const check = (next: StartedMember | null) => {
          expect(next).to.deep.include({ memberId: JOINED_MEMBER.memberId, term: 0, vote: 0, damaged: false });
          expect(next).to.deep.include({ bounds: EMPTY, applied: 0 });
          expect(existsSync(join(left, "fence"))).to.equal(true);
        };
        interrupted.push({ what: `joining, ${mark}, ${passing}`, directory, check });
      }
    });
  }

  for (const { what, names, marks, bounds, position } of LOSSES) {
    describe(`of which ${what} lost (P46, P58)`, () => {
      beforeEach(() => {
        cpSync(original, directory, { recursive: true });
        lose(names);
      });

      for (const [mark, passing] of marks) {
        it(`${mark}, ${passing}: the next start is damaged all the same, with its term and its vote`, async () => {
          await killAt(mark, passing);
          const check = (next: StartedMember | null) => {
            expect(next).to.deep.include({ term, vote, damaged: true, bounds, applied: position });
          };
          interrupted.push({ what: `${what} lost, ${mark}, ${passing}`, directory, check });
        });
      }
    });
  }

  it("is damaged again when its new data is lost as well, between any two steps", async () => {
    cpSync(original, directory, { recursive: true });
    for (const mark of DAMAGE_CRASH_POINTS) {
      rmSync(join(directory, "log"), { recursive: true, force: true });
      await run([directory], { mark, passing: 1 });
    }
    lose(readdirSync(directory).filter((name) => name === "log"));
    const check = (next: StartedMember | null) => {
      expect(next).to.deep.include({ term, vote, damaged: true, bounds: BEHIND_STATE, applied });
    };
    interrupted.push({ what: "lost again", directory, check });
  });

  it("does not trust a suspected state again, between any two files that are put aside", async () => {
    // The pointer, the state, its kept copy, the log, and the note.
    const files = 5;
    for (let passing = 1; passing <= files; passing++) {
      directory = join(temporaryDirectory(), "data");
      cpSync(original, directory, { recursive: true });
      writeFileSync(join(directory, "suspect-state"), "the store failed to read\n");
      await killAt("damage.move.after", passing);
      const left = directory;
      const check = (next: StartedMember | null) => {
        expect(next).to.deep.include({ term, vote, damaged: true, bounds: EMPTY, applied: 0 });
        expect(existsSync(join(left, "suspect-state"))).to.equal(false);
      };
      interrupted.push({ what: `suspected, ${passing}`, directory, check });
    }
  });

  for (const [mark, passing, isDamaged] of HEALING) {
    it(`${mark} of the healing: the mark of damage is ${isDamaged ? "there" : "gone"}`, async () => {
      cpSync(original, directory, { recursive: true });
      lose(["log"]);
      const { lines } = await killAt(mark, passing);
      expect(lines, "it is not said before it is durable").not.to.include("healed");
      const check = (next: StartedMember | null) => {
        expect(next).to.deep.include({ term, vote, damaged: isDamaged, bounds: BEHIND_STATE });
      };
      interrupted.push({ what: `healing, ${mark}`, directory, check });
    });
  }

  it("starts after each of these kills with what it must have, or joins and then does", async () => {
    const first = await finish(interrupted);
    const joined = interrupted.filter((_, at) => first[at] === null);
    const second = await finish(joined);
    for (const [at, each] of interrupted.entries()) {
      try {
        each.check(first[at] ?? second[joined.indexOf(each)] ?? null);
      } catch (error) {
        throw new Error(`killed at: ${each.what}`, { cause: error });
      }
    }
    expect(interrupted.length).to.be.above(0);
  });
});
