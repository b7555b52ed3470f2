/**
 * `npm test`: runs the layers of the test suite, two processes at a time, and ends with the line `N passed, N failed`.
 *
 *     npm test                                       everything
 *     npm test -- --quick                            a selection of two minutes, see test-quick.ts; not with CI set
 *     npm test -- --layer specs                      one layer; may be repeated
 *     npm test -- --grep "S18"                       tests whose title matches a regular expression
 *     npm test -- node/src/raft/quorum.spec.ts       these files
 *
 * Besides failing tests, these count as failures: a layer or file without tests, a process that crashes or does not
 * end, and processes and files that outlive their spec. Every process of the run has its own temporary folder, so every
 * file in it is its own leftover. The runner never retries.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { repositoryRoot, runCommand, stopOnSignals } from "./command.ts";
import { describeProcess, findProcesses, killProcesses, RUN_VARIABLE } from "./leftovers.ts";
import { mapWithLimit } from "./parallel.ts";
import { type Failure, readReport } from "./test-events.ts";
import { findLayers, type Surroundings, surroundings, type TestLayer } from "./test-layers.ts";
import { chooseQuick } from "./test-quick.ts";

const BATCHES_AT_A_TIME = 2; // The suite is measured on two cores.
const BATCH_LIMIT_MS = 15 * 60_000; // Far above any batch: only a test that blocks its process reaches it.
const FILES_PER_BATCH = 50;
const SLOW_FILES_PER_BATCH = 2; // Of files that take up to minutes each.
const BUDGET_MS = 10 * 60_000; // More than this is only reported, because it depends on the machine.

/** Hundreds of processes run the same files; the code that one of them compiles is in this folder for the next ones. */
const COMPILED = "compiled";
/** Killed members cannot save compiled code, so one member that ends by itself does it for all. */
const MEMBER_PROGRAM = path.join(repositoryRoot, "node/src/main.ts");
const COMPILE_LIMIT_MS = 60_000; // It takes one or two seconds.

/** The results of a part of the run. */
interface Outcome {
  readonly passed: number;
  readonly skipped: number;
  readonly failures: readonly Failure[];
}

/** The selection of the user. */
interface Selection {
  readonly layers: readonly TestLayer[];
  /** Whether a layer may have no test that runs. */
  readonly allowsEmpty: boolean;
  /** The parts of the whole suite that --quick does not run, in words. */
  readonly leftOut: readonly string[];
}

const options = {
  grep: { type: "string" },
  layer: { type: "string", multiple: true },
  quick: { type: "boolean" },
} as const;

/** @returns the parsed arguments; undefined, after an error message, if an option is unknown */
function readArguments() {
  try {
    return parseArgs({ allowPositionals: true, options });
  } catch (error) {
    if (!(error instanceof TypeError)) {
      throw error;
    }
    const known = Object.keys(options).map((name) => `--${name}`);
    process.stderr.write(`${error.message.split(". ")[0]}. The options are ${known.join(", ")}.\n`);
    return undefined;
  }
}

/** @returns the tests to run; undefined, after an error message, if the arguments make no sense */
function readSelection(): Selection | undefined {
  const given = readArguments();
  if (given === undefined) {
    return undefined;
  }
  const { values, positionals } = given;
  const all = findLayers();
  if (values.quick === true) {
    if (process.env.CI !== undefined) {
      process.stderr.write("--quick leaves most tests out, and CI is set: run the whole suite there.\n");
      return undefined;
    }
    if (values.grep !== undefined || values.layer !== undefined || positionals.length > 0) {
      process.stderr.write("--quick is a selection of its own: it takes no --grep, no --layer and no files.\n");
      return undefined;
    }
    return { ...chooseQuick(all), allowsEmpty: false };
  }
  const names = all.map((layer) => layer.name);
  const unknownLayer = values.layer?.find((name) => !names.includes(name));
  if (unknownLayer !== undefined) {
    process.stderr.write(`There is no layer ${unknownLayer}; the layers are ${names.join(", ")}.\n`);
    return undefined;
  }
  const wanted = positionals.map((file) => path.relative(repositoryRoot, path.resolve(file)));
  const unknownFile = wanted.find((file) => !all.some((layer) => layer.files.includes(file)));
  if (unknownFile !== undefined) {
    process.stderr.write(`${unknownFile} is not a spec file of any layer.\n`);
    return undefined;
  }
  const layers = all
    .filter((layer) => values.layer?.includes(layer.name) ?? true)
    .map((layer) => (wanted.length === 0 ? layer : { ...layer, files: layer.files.filter((f) => wanted.includes(f)) }))
    .filter((layer) => wanted.length === 0 || layer.files.length > 0);
  const { grep } = values;
  return {
    layers: grep === undefined ? layers : layers.map((layer) => ({ ...layer, grep })),
    allowsEmpty: grep !== undefined,
    leftOut: [],
  };
}

function printFailure(layer: string, { file, title, message }: Failure): void {
  process.stdout.write(`\n${layer} | FAILED ${file}: ${title}\n${message.replaceAll(/^/gm, "    ")}\n\n`);
}

/** Runs the files of a layer that share time zone and locale in one process. */
async function runBatch(
  layer: TestLayer,
  files: readonly string[],
  place: Surroundings,
  folder: string,
): Promise<Outcome> {
  const temporary = path.join(folder, "tmp");
  mkdirSync(temporary, { recursive: true, mode: 0o700 });
  const events = path.join(folder, "events.jsonl");
  writeFileSync(events, "");
  const filter = layer.grep === undefined ? [] : ["--grep", layer.grep];
  const { problem } = await runCommand({
    program: process.execPath,
    args: [
      path.join(import.meta.dirname, "spec-process.ts"),
      ...["--events", events, "--timeout", String(layer.timeoutMs), ...filter, "--", ...files],
    ],
    env: { ...place, TMPDIR: temporary, NODE_COMPILE_CACHE: path.join(folder, "..", COMPILED), [RUN_VARIABLE]: folder },
    limitMs: BATCH_LIMIT_MS,
    onLine: (line) => process.stdout.write(`${layer.name} | ${line}\n`),
  });
  const report = readReport(events);
  const failures = [...report.failures];
  if (!report.complete) {
    const where = report.unfinished === undefined ? "between tests" : `during ${report.unfinished}`;
    failures.push({ file: layer.name, title: "the test process crashed", message: `${problem}, ${where}` });
  } else if (problem !== undefined && failures.length === 0) {
    failures.push({ file: layer.name, title: "the test process failed after its tests", message: problem });
  }
  failures.push(...killLeftProcesses(layer.name, folder));
  return { passed: report.passed, skipped: report.skipped, failures };
}

/** Kills the remaining processes of a finished batch, and reports them. */
function killLeftProcesses(layer: string, run: string): Failure[] {
  const left = findProcesses(run, undefined);
  killProcesses(left);
  return left.map((process) => ({
    file: layer,
    title: "a process outlived the tests",
    message: describeProcess(process),
  }));
}

/** Files that share time zone and locale, and run in one process. */
interface Batch {
  readonly layer: TestLayer;
  readonly files: readonly string[];
  readonly place: Surroundings;
  /** Also identifies the processes of the batch. */
  readonly folder: string;
}

/** All files of the layers, in the order in which they start. */
function batchesOf(layers: readonly TestLayer[], folder: string): Batch[] {
  const inOrder = surroundings.flatMap((place, index) =>
    layers.flatMap((layer) => {
      const files = layer.files.filter((_, position) => position % surroundings.length === index);
      const groups = chunk(
        files,
        layer.startsMembers || layer.hasSlowFiles === true ? SLOW_FILES_PER_BATCH : FILES_PER_BATCH,
      );
      // A layer without files is reported as well.
      return (layer.files.length === 0 && index === 0 ? [[]] : groups).map((group, number) => {
        return { layer, files: group, place, folder: path.join(folder, `${layer.name}-${index}-${number}`) };
      });
    }),
  );
  const isShort = ({ layer }: Batch): boolean => layer.isShort === true;
  return [...inOrder.filter((batch) => !isShort(batch)), ...inOrder.filter(isShort)];
}

function chunk(files: readonly string[], size: number): string[][] {
  return Array.from({ length: Math.ceil(files.length / size) || 0 }, (_, at) =>
    files.slice(at * size, (at + 1) * size),
  );
}

/** Runs several batches at a time; prints the result of each layer when its last batch is over. */
async function runLayers(
  layers: readonly TestLayer[],
  batches: readonly Batch[],
  allowsEmpty: boolean,
): Promise<Outcome> {
  const runs = new Map(
    layers.map((layer) => {
      const left = batches.filter((batch) => batch.layer === layer).length;
      return [layer, { outcomes: [] as Outcome[], left, durationMs: 0 }];
    }),
  );
  const outcomes = await mapWithLimit(batches, BATCHES_AT_A_TIME, async ({ layer, files, place, folder }) => {
    const run = runs.get(layer);
    if (run === undefined) {
      return [];
    }
    const startedMs = performance.now();
    if (files.length > 0) {
      run.outcomes.push(await runBatch(layer, files, place, folder));
    }
    run.durationMs += performance.now() - startedMs;
    run.left -= 1;
    return run.left === 0 ? [finishLayer(layer, sum(run.outcomes), run.durationMs, allowsEmpty)] : [];
  });
  return sum(outcomes.flat());
}

/** Prints and returns the result of a layer; the duration is the sum of its batches. */
function finishLayer(
  layer: TestLayer,
  outcome: Outcome & { failures: Failure[] },
  durationMs: number,
  allowsEmpty: boolean,
): Outcome {
  if (outcome.passed + outcome.skipped + outcome.failures.length === 0 && !allowsEmpty) {
    outcome.failures.push({ file: layer.name, title: "nothing ran", message: "The layer has no tests." });
  }
  for (const failure of outcome.failures) {
    printFailure(layer.name, failure);
  }
  process.stdout.write(`${layer.name} | ${describe(outcome)} in ${(durationMs / 1000).toFixed(1)} s\n`);
  return outcome;
}

/** Compiles the program of a member once if any layer starts members: each later start takes half the time. */
async function compileMember(layers: readonly TestLayer[], folder: string): Promise<void> {
  if (layers.some(({ startsMembers }) => startsMembers) && existsSync(MEMBER_PROGRAM)) {
    // If a member cannot start, the tests that start one fail.
    await runCommand({
      program: process.execPath,
      args: [MEMBER_PROGRAM, "--version"],
      env: { NODE_COMPILE_CACHE: path.join(folder, COMPILED) },
      limitMs: COMPILE_LIMIT_MS,
      onLine: () => undefined,
    });
  }
}

function sum(outcomes: readonly Outcome[]): Outcome & { failures: Failure[] } {
  return {
    passed: outcomes.reduce((total, outcome) => total + outcome.passed, 0),
    skipped: outcomes.reduce((total, outcome) => total + outcome.skipped, 0),
    failures: outcomes.flatMap((outcome) => outcome.failures),
  };
}

function describe({ passed, failures, skipped }: Outcome): string {
  return `${passed} passed, ${failures.length} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}

async function main(): Promise<void> {
  const startedMs = performance.now();
  const selection = readSelection();
  if (selection === undefined) {
    process.exitCode = 2;
    return;
  }
  const { layers, allowsEmpty, leftOut } = selection;
  const folder = mkdtempSync(path.join(tmpdir(), "quoin-run-"));
  const removeFolder = (): void => rmSync(folder, { recursive: true, force: true });
  const batches = batchesOf(layers, folder);
  stopOnSignals(() => {
    for (const batch of batches) {
      killLeftProcesses(batch.layer.name, batch.folder);
    }
    removeFolder();
  });
  await compileMember(layers, folder);
  const outcome = sum([await runLayers(layers, batches, allowsEmpty)]);
  removeFolder();
  if (outcome.passed + outcome.skipped + outcome.failures.length === 0) {
    outcome.failures.push({ file: "all layers", title: "nothing ran", message: "No test matches." });
  }
  for (const { file, title } of outcome.failures) {
    process.stdout.write(`FAILED ${file}: ${title}\n`);
  }
  for (const line of leftOut) {
    process.stdout.write(`left out by --quick: ${line}\n`);
  }
  const durationMs = performance.now() - startedMs;
  const over = durationMs > BUDGET_MS ? `, over the budget of ${BUDGET_MS / 1000} s` : "";
  process.stdout.write(`${(durationMs / 1000).toFixed(1)} s${over}\n${describe(outcome)}\n`);
  process.exitCode = outcome.failures.length > 0 ? 1 : 0;
}

await main();
