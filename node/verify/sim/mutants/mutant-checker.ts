/**
 * Checks that the recorded killer catches each mutant, and passes without it.
 *
 * Killers of a spec file run one after the other in one process. A failure there counts if it is the recorded one, and
 * if the killers pass without a mutant afterwards, in the same process. So no run has disturbed another one. Whatever
 * is not so runs again in a process of its own, whose result counts. The test suite leaves the runs without a mutant out:
 * each killer is one of its tests anyway.
 */

import { mapWithLimit } from "../../../../testing/index.ts";
import { describeKiller, type Killer } from "./killer.ts";
import { runKiller, runSpecs, SpecProcess, testsOf } from "./killer-run.ts";
import { type Mutant, mutated, StaleMutant, sourceOf } from "./mutant.ts";
import type { Found } from "./record.ts";
import type { SpecReport } from "./spec-messages.ts";

/** The result for a mutant. */
export interface MutantResult {
  readonly mutant: Mutant;
  readonly isKilled: boolean;
  readonly killer: string;
  /** The rule that caught it, or why the suite fails. */
  readonly line: string;
}

/** A mutant with what the record knows of it. */
interface Checked {
  readonly mutant: Mutant;
  readonly killer: Killer;
  /** The recorded rule. */
  readonly rule: string;
}

/** A killer that is part of a spec file. */
type TestKiller = Exclude<Killer, { seeds: unknown }>;

export interface CheckOptions {
  /** How many killers run at a time, besides those that wait in vain or simulate. */
  readonly atATime: number;
  /** Whether the killers run without a mutant, too. */
  readonly isControlled: boolean;
  /** Called for each mutant as soon as its result is known. */
  readonly onResult: (result: MutantResult) => void;
}

/** Far longer than a recorded killer takes on a busy machine. */
const KILLER_LIMIT_MS = 180_000;
/** Such a killer waits for most of its time. It leaves the cores to others, so it runs beside them. */
const WAITED_IN_VAIN = /^Error: (?:waited \d+ s in vain|Timeout of \d+ms exceeded)/;
const WAITING_AT_A_TIME = 6;
/** Another process takes over afterwards: the modules of each run stay in memory. */
const RUNS_PER_PROCESS = 100;

/** @returns the results, in no order */
export async function checkAll(
  mutants: readonly Mutant[],
  record: ReadonlyMap<string, Found>,
  { atATime, isControlled, onResult }: CheckOptions,
): Promise<MutantResult[]> {
  const results: MutantResult[] = [];
  const add = (mutant: Mutant, killer: Killer | null, isKilled: boolean, line: string): void => {
    const result = { mutant, isKilled, killer: killer === null ? "" : describeKiller(killer), line };
    results.push(result);
    onResult(result);
  };
  const checkable = mutants.flatMap((mutant): Checked[] => {
    const { killer = null, rule = "" } = record.get(mutant.name) ?? {};
    const stale = staleness(mutant);
    if (stale !== null || killer === null) {
      add(mutant, killer, false, stale ?? "nothing is known to catch it: look for a killer with --search");
      return [];
    }
    return [{ mutant, killer, rule }];
  });
  const control = isControlled ? runWithout : (): Promise<SpecReport> => Promise.resolve({ kind: "passed" });
  const idle: SpecProcess[] = [];
  const check = async (group: readonly Checked[], process: SpecProcess | null): Promise<void> => {
    const { reports, unmutated } = await (process === null
      ? checkAlone(group, control)
      : checkTogether(process, group, control));
    for (const { mutant, killer } of group) {
      const { isKilled, line } = verdictOn(reports.get(mutant) ?? NOT_RUN, unmutated);
      add(mutant, killer, isKilled, line);
    }
  };
  const { wait = [], work = [] } = Object.groupBy(checkable, ({ rule }) =>
    WAITED_IN_VAIN.test(rule) ? "wait" : "work",
  );
  const { seeds = [], specs = [] } = Object.groupBy(work, ({ killer }) => ("seeds" in killer ? "seeds" : "specs"));
  // The longest first, so that no core waits for the other one at the end.
  const groups = groupsOf(specs).sort((one, other) => other.length - one.length);
  try {
    await Promise.all([
      mapWithLimit(groups, atATime, async (group) => {
        const process = idle.pop() ?? new SpecProcess();
        await check(group, process);
        idle.push(process);
      }),
      mapWithLimit([...groupsOf(wait), ...seeds.map((one) => [one])], 1, (group) => check(group, null)),
    ]);
  } finally {
    await Promise.all(idle.map((process) => process.end()));
  }
  return results;
}

/** Runs the killers of a group without a mutant: in this process, or if it is null, in one of their own. */
type Control = (group: readonly Checked[], process: SpecProcess | null) => Promise<SpecReport>;

/** The results of some killers with their mutants, and of all of them without one. */
interface GroupReports {
  readonly reports: ReadonlyMap<Mutant, SpecReport>;
  readonly unmutated: SpecReport;
}

const NOT_RUN: SpecReport = { kind: "doubtful", why: "it did not run" };

/** Groups whose killers are in one spec file. */
function groupsOf(all: readonly Checked[]): Checked[][] {
  return [...Map.groupBy(all, ({ killer }) => fileOf(killer as TestKiller)).values()];
}

/** Each in a process of its own, some at a time: those that wait take no core. */
async function checkAlone(group: readonly Checked[], control: Control): Promise<GroupReports> {
  const reports = new Map<Mutant, SpecReport>();
  await mapWithLimit(group, WAITING_AT_A_TIME, async ({ mutant, killer }) => {
    reports.set(mutant, await runKiller(killer, mutant, KILLER_LIMIT_MS));
  });
  return { reports, unmutated: await control(group, null) };
}

/** All of a spec file in this process. */
async function checkTogether(process: SpecProcess, group: readonly Checked[], control: Control): Promise<GroupReports> {
  const reports = new Map<Mutant, SpecReport>();
  for (const { mutant, killer, rule } of group) {
    const order = { mutant: mutant.name, ...testsOf(killer as TestKiller) };
    const report = await process.run(order, KILLER_LIMIT_MS);
    const isRecorded = report.kind === "failed" && report.rule === rule;
    reports.set(mutant, isRecorded ? report : await runKiller(killer, mutant, KILLER_LIMIT_MS));
  }
  const unmutated = await control(group, process);
  if (process.runs >= RUNS_PER_PROCESS) {
    await process.end();
  }
  return unmutated.kind === "passed" ? { reports, unmutated } : await checkAlone(group, control);
}

function runWithout(group: readonly Checked[], process: SpecProcess | null): Promise<SpecReport> {
  const [first] = group;
  if (first !== undefined && "seeds" in first.killer) {
    return runKiller(first.killer, null, KILLER_LIMIT_MS);
  }
  const { files, filter } = testsOfAll(group);
  return process === null
    ? runSpecs(files, filter, null, KILLER_LIMIT_MS)
    : process.run({ mutant: null, files, filter }, KILLER_LIMIT_MS);
}

/** The tests of killers of one spec file. */
function testsOfAll(group: readonly Checked[]) {
  const tests = group.map(({ killer }) => testsOf(killer as TestKiller));
  const pattern = tests.map(({ filter }) => RegExp.escape(filter.grep ?? "")).join("|");
  return { files: tests[0]?.files ?? [], filter: { pattern } };
}

function verdictOn(report: SpecReport, unmutated: SpecReport): { readonly isKilled: boolean; readonly line: string } {
  if (report.kind !== "failed") {
    return { isKilled: false, line: report.kind === "passed" ? "SURVIVED" : `no verdict: ${report.why}` };
  }
  if (unmutated.kind !== "passed") {
    const why = unmutated.kind === "failed" ? unmutated.rule : unmutated.why;
    return { isKilled: false, line: `its killer fails without it: ${why}` };
  }
  return { isKilled: true, line: report.rule };
}

/** The spec file of a killer. */
function fileOf(killer: TestKiller): string {
  return testsOf(killer).files[0] ?? "";
}

/** Why the mutant is stale, or null. */
export function staleness(mutant: Mutant): string | null {
  try {
    mutated(sourceOf(mutant), mutant);
    return null;
  } catch (error) {
    if (error instanceof StaleMutant) {
      return error.message;
    }
    throw error;
  }
}
