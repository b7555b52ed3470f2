/**
 * The tests of `npm test -- --quick`: the specs except the slowest, every fiftieth seed of the simulator, and one file
 * on real members for each of the layers `cluster`, `process` and `conformance`. It takes about two minutes on two idle
 * cores. Use it between changes: a commit must pass the whole suite.
 */
import type { TestLayer } from "./test-layers.ts";

/** The slowest specs: two thirds of the layer's time in a tenth of its files. */
const SLOW_SPECS: readonly string[] = [
  "backup/src/s3/s3-store.spec.ts",
  "bench/measuring/measure.spec.ts",
  "client/src/cli/backup-commands.spec.ts",
  "client/src/cli/main.spec.ts",
  "client/src/cli/member-report.spec.ts",
  "client/src/operation.spec.ts",
  "node/src/access/login.spec.ts",
  "node/src/access/password.spec.ts",
  "node/src/api/grpc/access-table.spec.ts",
  "node/src/api/http/account-routes.spec.ts",
  "node/src/api/http/server.spec.ts",
  "node/src/api/methods/account-methods.spec.ts",
  "node/src/api/methods/owner-reset-method.spec.ts",
  "node/src/api/methods/watch-methods.spec.ts",
  "node/src/archive/archive-lease.spec.ts",
  "node/src/archive/archiver-directory.spec.ts",
  "node/src/offline/member-restore.spec.ts",
  "node/src/offline/offline-restore.spec.ts",
  "node/src/peers/tls.spec.ts",
  "node/src/raft/random.spec.ts",
  "node/src/replica/member-peers.spec.ts",
  "node/src/replica/member.spec.ts",
  "node/src/replica/replica-event-logs.spec.ts",
  "node/src/state/accounts/accounts-model.spec.ts",
  "node/src/state/event-logs/event-logs.spec.ts",
  "node/src/state/memory/memory-model.spec.ts",
  "node/src/storage/data-directory.spec.ts",
  "node/src/storage/member-initialization.spec.ts",
  "node/src/storage/member-start.spec.ts",
  "node/src/storage/sequence-markers.spec.ts",
  "node/src/storage/rocks-state-store.spec.ts",
  "node/src/storage/rocks.spec.ts",
  "node/src/storage/state-replacement.spec.ts",
  "operator/scripts/cluster-chart.spec.ts",
  "operator/src/certificates/plan-certificates.spec.ts",
  "operator/src/controller/crashes.spec.ts",
  "operator/src/controller/failures.spec.ts",
  "operator/src/controller/obstacles.spec.ts",
  "operator/src/controller/operator.spec.ts",
  "operator/src/controller/reconciler.spec.ts",
  "operator/src/controller/requests.spec.ts",
  "operator/src/main.spec.ts",
  "operator/src/plan/exploration.spec.ts",
  "operator/src/status/consistency.spec.ts",
  "proto/scripts/contract.spec.ts",
  "scripts/ci.spec.ts",
  "scripts/code-blocks.spec.ts",
  "scripts/setup.spec.ts",
  "scripts/site/build.spec.ts",
  "scripts/test.spec.ts",
];

/** The part of a layer that runs. A layer without a choice runs nothing. */
interface Choice {
  /** Everything except these files. */
  readonly without?: readonly string[];
  /** Only these files. */
  readonly only?: readonly string[];
  /** In those files, only the tests whose title matches this regular expression. */
  readonly grep?: string;
}

const choices: ReadonlyMap<string, Choice> = new Map<string, Choice>([
  ["specs", { without: SLOW_SPECS }],
  // Among consecutive seeds, every fiftieth ends like this.
  ["simulator", { only: ["node/verify/sim/sim.spec.ts"], grep: "with seed \\d*[05]0$" }],
  ["conformance", { only: ["node/verify/conformance/local-cluster.spec.ts"], grep: "stays for the other entries" }],
  ["cluster", { only: ["node/test/cluster/forwarding.spec.ts"] }],
  ["process", { only: ["node/test/process/main.spec.ts"] }],
]);

/** A part of the suite, and a description of the part that does not run. */
export interface QuickSuite {
  readonly layers: readonly TestLayer[];
  readonly leftOut: readonly string[];
}

/**
 * @param all the layers of the whole suite
 * @returns their quick part; throws an Error if a file or a layer in the choice does not exist
 */
export function chooseQuick(all: readonly TestLayer[]): QuickSuite {
  const missing = [...choices.keys()].find((name) => !all.some((layer) => layer.name === name));
  if (missing !== undefined) {
    throw new Error(`scripts/test-quick.ts names a layer ${missing}, which does not exist`);
  }
  const layers: TestLayer[] = [];
  const leftOut: string[] = [];
  for (const layer of all) {
    const choice = choices.get(layer.name);
    const chosen = choice === undefined ? undefined : choose(layer, choice);
    if (chosen !== undefined) {
      layers.push(chosen);
    }
    leftOut.push(...describeLeftOut(layer, chosen));
  }
  return { layers, leftOut };
}

function choose(layer: TestLayer, { without = [], only, grep }: Choice): TestLayer {
  const unknown = [...without, ...(only ?? [])].find((file) => !layer.files.includes(file));
  if (unknown !== undefined) {
    throw new Error(`scripts/test-quick.ts names ${unknown}, which is not a spec file of the layer ${layer.name}`);
  }
  const files = layer.files.filter((file) => (only?.includes(file) ?? true) && !without.includes(file));
  return grep === undefined ? { ...layer, files } : { ...layer, files, grep };
}

function describeLeftOut({ name, files }: TestLayer, chosen: TestLayer | undefined): string[] {
  if (chosen === undefined) {
    return [`${name}: all ${files.length} files`];
  }
  const parts: string[] = [];
  if (chosen.files.length < files.length) {
    parts.push(`${files.length - chosen.files.length} of ${files.length} files`);
  }
  if (chosen.grep !== undefined) {
    parts.push(`of ${chosen.files.join(", ")} the tests that do not match ${chosen.grep}`);
  }
  return parts.length === 0 ? [] : [`${name}: ${parts.join("; ")}`];
}
