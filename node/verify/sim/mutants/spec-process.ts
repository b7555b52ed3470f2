/**
 * The process that runs tests with a mutant or without one, as often as its parent asks. Each run loads the modules that
 * the mutant can change for itself, see `fresh-modules.ts`. It runs the given spec files one after the other: the tests
 * whose titles contain `grep`, or match `pattern`. It ends at the first failure that counts, and reports to its parent.
 *
 * A failure counts if a test says what is wrong. If a module does not load, or a name or a property is missing,
 * something is broken, but no test has noticed the bug. A test that never ends counts if no other test says more.
 */

import { flushCompileCache } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import fc from "fast-check";
import Mocha from "mocha";
import { testSeed } from "../../../../testing/index.ts";
import { mutantNamed } from "./catalogue.ts";
import { beginRun } from "./fresh-modules.ts";
import { type Mutant, repositoryRoot } from "./mutant.ts";
import { MUTANT_VARIABLE } from "./mutant-variable.ts";
import type { SpecAnswer, SpecOrder, SpecReport } from "./spec-messages.ts";

/** Far longer than any of these tests takes on a busy machine. */
const TEST_LIMIT_MS = 20_000;
const LINE_LENGTH_MAX = 160;
const NO_VERDICT = new Set(["SyntaxError", "ReferenceError", "TypeError"]);

const { EVENT_TEST_PASS, EVENT_TEST_FAIL } = Mocha.Runner.constants;
const { EVENT_FILE_PRE_REQUIRE, EVENT_FILE_REQUIRE, EVENT_FILE_POST_REQUIRE } = Mocha.Suite.constants;

function send(answer: SpecAnswer): void {
  process.send?.(answer);
}

/** The text without the parts that differ between runs or machines. */
function withoutPlaces(text: string): string {
  return text
    .replaceAll(`${tmpdir()}/`, "")
    .replaceAll(`${repositoryRoot}/`, "")
    .replaceAll(/(quoin-[a-z-]+-)\w{6}/g, "$1…");
}

/** The first line of the failure; for two texts, the first line in which they differ. */
function firstLine(error: Error): string {
  const { actual, expected } = error as { actual?: unknown; expected?: unknown };
  if (typeof actual === "string" && typeof expected === "string" && expected.includes("\n")) {
    const [ours, theirs] = [actual.split("\n"), expected.split("\n")];
    const at = theirs.findIndex((line, index) => line !== ours[index]);
    return `line ${at + 1} is "${ours[at] ?? ""}" instead of "${theirs[at] ?? ""}"`.slice(0, LINE_LENGTH_MAX);
  }
  const [line = ""] = error.message.split("\n");
  return withoutPlaces(`${error.name}: ${line}`).slice(0, LINE_LENGTH_MAX);
}

function isLimitExceeded(error: Error): boolean {
  return (error as { code?: unknown }).code === "ERR_MOCHA_TIMEOUT";
}

/** The title of the failed test, or of the test that a hook ran for. */
function titleOf(runnable: Mocha.Runnable): string {
  const test = (runnable as Mocha.Runnable & { ctx?: Mocha.Context }).ctx?.currentTest;
  return (test ?? runnable).fullTitle();
}

/** One run: the tests of an order. */
class Run {
  readonly #order: SpecOrder;
  readonly #mutant: Mutant | null;
  #passed = 0;
  #doubtful: string | null = null;
  /** The first test that did not end. */
  #unended: SpecReport | null = null;
  #isReported = false;

  constructor(order: SpecOrder) {
    this.#order = order;
    this.#mutant = order.mutant === null ? null : mutantNamed(order.mutant);
  }

  /** Reports once; resolves when nothing runs any more. */
  async run(): Promise<void> {
    for (const file of this.#order.files) {
      await this.#runFile(file);
      if (this.#isReported) {
        return;
      }
    }
    if (this.#unended !== null) {
      this.#report(this.#unended);
    } else if (this.#doubtful !== null) {
      this.#report({ kind: "doubtful", why: this.#doubtful });
    } else {
      this.#report(this.#passed === 0 ? { kind: "doubtful", why: "no test ran" } : { kind: "passed" });
    }
  }

  #report(report: SpecReport): void {
    this.#isReported = true;
    send({ report });
  }

  async #runFile(file: string): Promise<void> {
    const { grep, pattern } = this.#order.filter;
    const mocha = new Mocha({ timeout: TEST_LIMIT_MS, forbidOnly: true, reporter: Mocha.reporters.Base });
    if (grep !== undefined) {
      mocha.fgrep(grep);
    } else if (pattern !== undefined) {
      mocha.grep(new RegExp(pattern));
    }
    const name = path.join(repositoryRoot, file);
    mocha.suite.emit(EVENT_FILE_PRE_REQUIRE, globalThis, name, mocha);
    mocha.suite.emit(EVENT_FILE_REQUIRE, await import(beginRun(this.#mutant, name)), name, mocha);
    mocha.suite.emit(EVENT_FILE_POST_REQUIRE, globalThis, name, mocha);
    await new Promise<void>((resolve) => {
      const runner = mocha.run(() => resolve());
      runner.on(EVENT_TEST_PASS, () => {
        this.#passed++;
      });
      runner.on(EVENT_TEST_FAIL, (test, error: Error) => {
        const report: SpecReport = { kind: "failed", file, title: titleOf(test), rule: firstLine(error) };
        if (isLimitExceeded(error)) {
          this.#unended ??= report;
        } else if (NO_VERDICT.has(error.name)) {
          this.#doubtful ??= report.rule;
        } else if (!this.#isReported) {
          this.#report(report);
          runner.abort();
        }
      });
    });
    mocha.dispose();
  }
}

// For the threads that tests start, which load the mutants too. This process is killed, so it saves nothing at its end.
flushCompileCache();

// A killer must catch its mutant each time: random tests draw the same values in each run with the same seed. No one reads
// the smallest example of a failure, which may take a minute to find.
fc.configureGlobal({ seed: testSeed(), endOnFailure: true });

process.on("message", async (order: SpecOrder) => {
  // For the threads and processes that the tests start.
  process.env[MUTANT_VARIABLE] = order.mutant ?? "";
  try {
    await new Run(order).run();
  } catch (error) {
    send({ report: { kind: "doubtful", why: error instanceof Error ? firstLine(error) : String(error) } });
  }
  send({ isReady: true });
});
process.on("disconnect", () => process.exit());
