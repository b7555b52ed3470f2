/**
 * `npm test`: runs the layers of the test suite, several processes at a time, and ends with the line `N passed, N failed`.
 *
 *     npm test                                       the part of the suite that takes minutes, see test-fast.ts
 *     npm run test:all                               everything (`--all`)
 *     npm run test:computed                          the mutants and simulated time beyond `npm test` (`--computed`)
 *     npm run test:rest                              what `test:all` has beyond both (`--rest`)
 *     npm test -- --layer specs                      one whole layer; may be repeated
 *     npm test -- --grep "S18"                       tests of the whole suite whose title matches a regular expression
 *     npm test -- node/src/raft/quorum.spec.ts       these files
 *     npm test -- --sources                          runs members from their sources, not from a bundle
 *     npm test -- --at-a-time 2                      runs this many processes at a time, instead of three
 *
 * Tests draw the same in each run; the environment variable QUOIN_SEED changes what they draw.
 *
 * Besides failing tests, these count as failures: a layer or file without tests, a process that crashes or does not
 * end, and processes and files that outlive their spec. Every process of the run has its own temporary folder, so every
 * file in it is its own leftover. The runner never retries.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { mapWithLimit, PROGRAMS_VARIABLE, programOf, SEED_VARIABLE } from "../testing/index.ts";
import { repositoryRoot, runCommand, stopOnSignals } from "./command.ts";
import { describeProcess, findProcesses, killProcesses, RUN_VARIABLE } from "./leftovers.ts";
import { type Failure, readReport } from "./test-events.ts";
import { divide } from "./test-fast.ts";
import { findLayers, SURROUNDINGS, type Surroundings, type TestLayer } from "./test-layers.ts";
import { buildTestTools } from "./test-tools.ts";

const BATCHES_AT_A_TIME = 3; // By default. The suite is measured on two cores, where four take as long.
const BATCH_LIMIT_MS = 15 * 60_000; // Far above any batch: only a test that blocks its process reaches it.
const FILES_PER_BATCH = 50;
const SLOW_FILES_PER_BATCH = 4; // Of files that take up to minutes each.
const SLOWEST_FILES = 10; // As many are listed with their time.
const REPEATED_FAILURES_MAX = 8;
const REPEATED_LINES_MAX = 12; // Of all their messages together, so that the last 40 lines have them.
const FAILURE_LINE_MAX = 200; // Characters.

/**
 * Hundreds of processes run the same files; the code that one of them compiles is in this folder for the next ones. If
 * the environment names such a folder already, several runs share it.
 */
const COMPILED = "compiled";
/** Killed members cannot save compiled code, so one member that ends by itself does it for all. */
const MEMBER_PROGRAM = path.join(repositoryRoot, "node/src/main.ts");
const COMPILE_LIMIT_MS = 60_000; // It takes one or two seconds.

/** The results of a part of the run. */
interface Outcome {
  readonly passed: number;
  readonly skipped: number;
  readonly failures: readonly Failure[];
  /** Milliseconds for each file. */
  readonly durationsMs: ReadonlyMap<string, number>;
}

/** The selection of the user. */
interface Selection {
  readonly layers: readonly TestLayer[];
  /** Whether a layer may have no test that runs. */
  readonly allowsEmpty: boolean;
  /** Whether members run from their sources. */
  readonly fromSources: boolean;
  /** How many processes run at a time. */
  readonly atATime: number;
}

const OPTIONS = {
  all: { type: "boolean" },
  computed: { type: "boolean" },
  rest: { type: "boolean" },
  grep: { type: "string" },
  layer: { type: "string", multiple: true },
  sources: { type: "boolean" },
  "at-a-time": { type: "string" },
} as const;

/** Selections that name a part of the suite. */
const PARTS = ["all", "computed", "rest"] as const;

/** @returns the parsed arguments; undefined, after an error message, if an option is unknown */
function readArguments() {
  try {
    return parseArgs({ allowPositionals: true, options: OPTIONS });
  } catch (error) {
    if (!(error instanceof TypeError)) {
      throw error;
    }
    const known = Object.keys(OPTIONS).map((name) => `--${name}`);
    process.stderr.write(`${error.message.split(". ")[0]}. The options are ${known.join(", ")}.\n`);
    return undefined;
  }
}

/** @returns how many processes run at a time; undefined, after an error message, if that is no such number */
function readAtATime(given = String(BATCHES_AT_A_TIME)): number | undefined {
  if (!/^[1-9][0-9]?$/.test(given)) {
    process.stderr.write(`--at-a-time must be a number from 1 to 99, not "${given}".\n`);
    return undefined;
  }
  return Number(given);
}

/** @returns the tests to run; undefined, after an error message, if the arguments make no sense */
function readSelection(): Selection | undefined {
  const given = readArguments();
  if (given === undefined) {
    return undefined;
  }
  const { values, positionals } = given;
  const atATime = readAtATime(values["at-a-time"]);
  if (atATime === undefined) {
    return undefined;
  }
  const { grep, layer: named = [], sources: fromSources = false } = values;
  const wanted = positionals.map((file) => path.relative(repositoryRoot, path.resolve(file)));
  const isOwn = grep !== undefined || named.length > 0 || wanted.length > 0;
  const parts = PARTS.filter((name) => values[name] === true);
  if (parts.length > (isOwn ? 0 : 1)) {
    process.stderr.write(
      "--all, --computed and --rest are selections of their own: they take no --grep, no --layer and no files.\n",
    );
    return undefined;
  }
  const layers = findLayers();
  if (!isOwn) {
    const suite = layers.filter(({ isOfTools }) => isOfTools !== true);
    const [part = "fast"] = parts;
    return { layers: part === "all" ? suite : divide(suite)[part], allowsEmpty: false, fromSources, atATime };
  }
  const names = layers.map(({ name }) => name);
  const unknownLayer = named.find((name) => !names.includes(name));
  if (unknownLayer !== undefined) {
    process.stderr.write(`There is no layer ${unknownLayer}; the layers are ${names.join(", ")}.\n`);
    return undefined;
  }
  const unknownFile = wanted.find((file) => !layers.some((layer) => layer.files.includes(file)));
  if (unknownFile !== undefined) {
    process.stderr.write(`${unknownFile} is not a spec file of any layer.\n`);
    return undefined;
  }
  const selected = layers
    .filter(({ name }) => named.length === 0 || named.includes(name))
    .map((layer) => (wanted.length === 0 ? layer : { ...layer, files: layer.files.filter((f) => wanted.includes(f)) }))
    .filter(({ files }) => wanted.length === 0 || files.length > 0);
  return {
    layers: grep === undefined ? selected : selected.map((layer) => ({ ...layer, grep })),
    allowsEmpty: grep !== undefined,
    fromSources,
    atATime,
  };
}

function printFailure(layer: string, { file, title, message }: Failure): void {
  process.stdout.write(`\n${layer} | FAILED ${file}: ${title}\n${message.replaceAll(/^/gm, "    ")}\n\n`);
}

/** Runs the files of a layer that share time zone and locale in one process. */
async function runBatch(
  { layer, files, place, folder }: Batch,
  environment: Readonly<Record<string, string>>,
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
    env: { ...place, ...environment, TMPDIR: temporary, [RUN_VARIABLE]: folder },
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
  return { passed: report.passed, skipped: report.skipped, failures, durationsMs: report.durationsMs };
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
  return layers.flatMap((layer) =>
    SURROUNDINGS.flatMap((place, index) => {
      const files = layer.files.filter((_, position) => position % SURROUNDINGS.length === index);
      const isSlow = layer.startsMembers || layer.hasSlowFiles === true;
      const groups = chunk(files, isSlow ? SLOW_FILES_PER_BATCH : FILES_PER_BATCH);
      // A layer without files is reported as well.
      return (layer.files.length === 0 && index === 0 ? [[]] : groups).map((group, number) => {
        return { layer, files: group, place, folder: path.join(folder, `${layer.name}-${index}-${number}`) };
      });
    }),
  );
}

function chunk(files: readonly string[], size: number): string[][] {
  return Array.from({ length: Math.ceil(files.length / size) || 0 }, (_, at) =>
    files.slice(at * size, (at + 1) * size),
  );
}

/** Runs several batches at a time; prints the result of each layer when its last batch is over. */
async function runLayers(
  { layers, allowsEmpty, atATime }: Selection,
  batches: readonly Batch[],
  environment: Readonly<Record<string, string>>,
): Promise<Outcome> {
  const runs = new Map(
    layers.map((layer) => {
      const left = batches.filter((batch) => batch.layer === layer).length;
      return [layer, { outcomes: [] as Outcome[], left, durationMs: 0 }];
    }),
  );
  const outcomes = await mapWithLimit(batches, atATime, async ({ layer, files, place, folder }) => {
    const run = runs.get(layer);
    if (run === undefined) {
      return [];
    }
    const startedMs = performance.now();
    if (files.length > 0) {
      run.outcomes.push(await runBatch({ layer, files, place, folder }, environment));
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

/**
 * Bundles the programs that tests start, and compiles that of a member once, if any layer starts members: each later
 * start takes a third of the time.
 *
 * @returns the environment of the tests
 */
async function prepareMembers({ layers, fromSources }: Selection, folder: string): Promise<Record<string, string>> {
  const compiled = { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? path.join(folder, COMPILED) };
  if (!layers.some(({ startsMembers }) => startsMembers) || !existsSync(MEMBER_PROGRAM)) {
    return compiled;
  }
  const environment = { ...compiled, [PROGRAMS_VARIABLE]: "" };
  if (!fromSources) {
    // Loaded only here: most of the tools that it needs concern no other run.
    const { bundleTestPrograms } = await import("./test-programs.ts");
    environment[PROGRAMS_VARIABLE] = await bundleTestPrograms(path.join(folder, "programs"));
  }
  // If a member cannot start, the tests that start one fail.
  await runCommand({
    program: process.execPath,
    args: [programOf(MEMBER_PROGRAM, environment), "--version"],
    env: environment,
    limitMs: COMPILE_LIMIT_MS,
    onLine: () => undefined,
  });
  return environment;
}

function sum(outcomes: readonly Outcome[]): Outcome & { failures: Failure[] } {
  return {
    passed: outcomes.reduce((total, outcome) => total + outcome.passed, 0),
    skipped: outcomes.reduce((total, outcome) => total + outcome.skipped, 0),
    failures: outcomes.flatMap((outcome) => outcome.failures),
    durationsMs: new Map(outcomes.flatMap((outcome) => [...outcome.durationsMs])),
  };
}

function describe({ passed, failures, skipped }: Outcome): string {
  return `${passed} passed, ${failures.length} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}

/** The lines at the end of a run that say what took long, what failed, and how to repeat it. */
function printSummary({ failures, durationsMs }: Outcome): void {
  const slowest = [...durationsMs].sort((one, other) => other[1] - one[1]).slice(0, SLOWEST_FILES);
  for (const [file, durationMs] of slowest) {
    process.stdout.write(`slow: ${(durationMs / 1000).toFixed(1)} s ${file}\n`);
  }
  const seed = process.env[SEED_VARIABLE];
  const prefix = seed === undefined ? "" : `${SEED_VARIABLE}=${seed} `;
  const repeated = failures.slice(0, REPEATED_FAILURES_MAX);
  for (const { file, title, message } of repeated) {
    process.stdout.write(`FAILED ${file}: ${title}\n`);
    for (const line of message.split("\n").slice(0, REPEATED_LINES_MAX / repeated.length)) {
      process.stdout.write(`    ${line.slice(0, FAILURE_LINE_MAX)}\n`);
    }
    // A failure outside of a file has the name of its layer.
    const selection = file.includes(".spec.ts") ? file : `--layer ${file}`;
    process.stdout.write(`    again: ${prefix}npm test -- ${selection}\n`);
  }
  if (failures.length > REPEATED_FAILURES_MAX) {
    process.stdout.write(`FAILED ${failures.length - REPEATED_FAILURES_MAX} more, see above\n`);
  }
}

async function main(): Promise<void> {
  const startedMs = performance.now();
  const selection = readSelection();
  if (selection === undefined) {
    process.exitCode = 2;
    return;
  }
  const folder = mkdtempSync(path.join(tmpdir(), "quoin-run-"));
  const removeFolder = (): void => rmSync(folder, { recursive: true, force: true });
  const batches = batchesOf(selection.layers, folder);
  stopOnSignals(() => {
    for (const batch of batches) {
      killLeftProcesses(batch.layer.name, batch.folder);
    }
    removeFolder();
  });
  const specs = new Set(selection.layers.flatMap(({ files }) => files));
  await buildTestTools(specs, (line) => process.stdout.write(`${line}\n`));
  const environment = await prepareMembers(selection, folder);
  const outcome = sum([await runLayers(selection, batches, environment)]);
  removeFolder();
  if (outcome.passed + outcome.skipped + outcome.failures.length === 0) {
    outcome.failures.push({ file: "all layers", title: "nothing ran", message: "No test matches." });
  }
  printSummary(outcome);
  const durationMs = performance.now() - startedMs;
  process.stdout.write(`${(durationMs / 1000).toFixed(1)} s\n${describe(outcome)}\n`);
  process.exitCode = outcome.failures.length > 0 ? 1 : 0;
}

await main();
