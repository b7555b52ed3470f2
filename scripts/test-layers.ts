/** The layers of the test suite: which files belong to each, and how they run. */
import { globSync } from "node:fs";
import { repositoryRoot } from "./command.ts";

/** A part of the suite that runs beside others. */
export interface TestLayer {
  readonly name: string;
  readonly files: readonly string[];
  /** Limit of a single test, in milliseconds. */
  readonly timeoutMs: number;
  /** Whether it starts members as separate processes. */
  readonly startsMembers: boolean;
  /** Whether a file may take minutes although it starts no member. */
  readonly hasSlowFiles?: boolean;
  /** Whether it tests the tools of developers: it is part of `npm run check`, and of no other run unless it is named. */
  readonly isOfTools?: boolean;
  /** The layer runs only tests whose title matches this regular expression; undefined = all. */
  readonly grep?: string;
}

/** Time zone and locale of a process. */
export interface Surroundings {
  readonly TZ: string;
  readonly LANG: string;
  readonly LC_ALL: string;
}

/**
 * Unusual places, which alternate from file to file. The first is a time zone 45 minutes off the hour beyond the date
 * line, with a locale in which the lower case of I is not i. The second is a time zone half an hour off, with a locale
 * that has its own digits.
 */
export const SURROUNDINGS: readonly [Surroundings, Surroundings] = [
  { TZ: "Pacific/Chatham", LANG: "tr_TR.UTF-8", LC_ALL: "tr_TR.UTF-8" },
  { TZ: "America/St_Johns", LANG: "ar_EG.UTF-8", LC_ALL: "ar_EG.UTF-8" },
];

/** @returns all layers */
export function findLayers(): TestLayer[] {
  const crash = find(["node/test/crash/**/*.spec.ts", "node/test/storage/**/*.spec.ts"]);
  const cluster = find(["node/test/cluster/**/*.spec.ts", "node/verify/nemesis/nemesis.spec.ts"]);
  const clients = [
    "clients/behaviour/{remote,typescript}/*.spec.ts",
    "clients/go/*.spec.ts",
    "clients/python/*.spec.ts",
  ];
  const conformance = find(["node/verify/conformance/**/*.spec.ts", "e2e/interop/**/*.spec.ts", ...clients]);
  const fuzz = find(["e2e/schemathesis/**/*.spec.ts", "node/test/fuzz/**/*.spec.ts"]);
  const benchmarks = [
    "scenarios/index",
    "scenarios/go-load",
    "scale/run",
    "sdks/client-program",
    "soak/load/parts",
    "soak/run",
    "timeline/traced-cluster",
  ].map((name) => `bench/${name}.spec.ts`);
  const processes = find(["node/test/**/*.spec.ts", "console/test/**/*.spec.ts", ...benchmarks]).filter(
    (file) => ![...cluster, ...crash, ...fuzz].includes(file),
  );
  const mutants = find(["node/verify/sim/mutants/**/*.spec.ts"]);
  const tools = find(["scripts/**/*.spec.ts"]);
  const simulator = find(
    ["corpus", "determinism", "main", "seed-processes", "sim", "sim-further"].map(
      (name) => `node/verify/sim/${name}.spec.ts`,
    ),
  );
  return [
    // Deliberate bugs, each against the test that must catch it, in separate processes: the longest file.
    { name: "mutants", files: mutants, timeoutMs: 240_000, startsMembers: false, hasSlowFiles: true },
    // The contract at real clusters, tested by code that knows only the contract, and what SDKs make of it.
    { name: "conformance", files: conformance, timeoutMs: 120_000, startsMembers: true },
    // Whole clusters in simulated time: many runs, one after the other.
    { name: "simulator", files: simulator, timeoutMs: 60_000, startsMembers: false, hasSlowFiles: true },
    // Real processes and stores that are killed or damaged, and then restarted.
    { name: "crash", files: crash, timeoutMs: 120_000, startsMembers: true },
    // Several members as real processes, under load.
    { name: "cluster", files: cluster, timeoutMs: 180_000, startsMembers: true },
    // Real processes as a user runs them.
    { name: "process", files: processes, timeoutMs: 120_000, startsMembers: true },
    // The interfaces of real clusters, with random requests that follow from their descriptions.
    { name: "fuzz", files: fuzz, timeoutMs: 180_000, startsMembers: true },
    // Short ones come last, so that no core waits long for another one.
    {
      name: "specs",
      files: find([
        "*/src/**/*.spec.ts",
        "proto/**/*.spec.ts",
        "bench/**/*.spec.ts",
        "clients/behaviour/{driver,results}/*.spec.ts",
        "operator/scripts/**/*.spec.ts",
        "e2e/cluster/**/*.spec.ts",
        "node/local/**/*.spec.ts",
        "node/micro/**/*.spec.ts",
        "node/verify/**/*.spec.ts",
        "testing/**/*.spec.ts",
      ]).filter((file) => ![...mutants, ...cluster, ...simulator, ...processes, ...conformance].includes(file)),
      // Twenty times the duration of the slowest of them, which uses a real disk, on an idle machine.
      timeoutMs: 30_000,
      startsMembers: false,
    },
    { name: "tools", files: tools, timeoutMs: 60_000, startsMembers: false, isOfTools: true },
  ];
}

function find(patterns: string[]): string[] {
  return globSync(patterns, { cwd: repositoryRoot, exclude: ["**/node_modules"] }).sort();
}
