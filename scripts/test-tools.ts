/**
 * What tests build with the tools of other languages, once on a machine. A run builds it before its tests: that takes
 * minutes where nothing is built yet, and a test would wait for it beside others, against its own limit.
 */

import path from "node:path";
import { repositoryRoot } from "./command.ts";

interface TestTool {
  readonly name: string;
  /** The specs that use it. They build it themselves if it is missing, and say what a machine lacks. */
  readonly specs: readonly string[];
  /** Builds it unless it is there. */
  readonly make: () => Promise<unknown>;
}

const environmentFor = async (folder: string): Promise<unknown> => {
  const { pythonEnvironment } = await import("../e2e/python/index.ts");
  return pythonEnvironment(new URL(`file://${path.join(repositoryRoot, folder, "requirements.txt")}`));
};

/** In the order in which they are built. */
export const TEST_TOOLS: readonly TestTool[] = [
  {
    name: "Python for the client in Python",
    specs: ["e2e/interop/interop.spec.ts", "clients/go/go.spec.ts"],
    make: () => environmentFor("e2e/interop"),
  },
  {
    name: "Python for requests by the interface's document",
    specs: ["e2e/schemathesis/schemathesis.spec.ts"],
    make: () => environmentFor("e2e/schemathesis"),
  },
  {
    name: "Python for the SDK",
    specs: ["clients/python/python.spec.ts", "clients/python/behaviour.spec.ts"],
    make: () => environmentFor("clients/python"),
  },
  {
    name: "a store in Python",
    specs: ["backup/src/s3/s3-store.spec.ts"],
    make: () => environmentFor("backup/test/s3"),
  },
  {
    name: "a store in Go",
    specs: ["backup/src/s3/s3-store.spec.ts", "node/test/process/backup-store.spec.ts"],
    make: async () => (await import("../backup/test/s3/index.ts")).buildVersitygw(),
  },
  {
    name: "the client in Go",
    specs: ["e2e/interop/go.spec.ts"],
    make: async () => (await import("../e2e/interop/index.ts")).goClient(),
  },
  {
    name: "the SDK for Go",
    specs: ["clients/go/go.spec.ts"],
    make: async () => (await import("../clients/go/scripts/index.ts")).buildGoSdk(),
  },
  {
    name: "the client in Java",
    specs: ["e2e/interop/busy-clients.spec.ts"],
    make: async () => (await import("../e2e/interop/index.ts")).javaClient(),
  },
  {
    name: "the client in Rust",
    specs: ["e2e/interop/busy-clients.spec.ts"],
    make: async () => (await import("../e2e/interop/index.ts")).rustClient(),
  },
  {
    name: "runtimes of JavaScript",
    specs: ["node/test/client/package.spec.ts"],
    make: async () => (await import("../node/test/client/index.ts")).installRuntimes(),
  },
];

/** What was built faster than this was there already. */
const SHOWN_MS = 3_000;

/**
 * Builds what these specs use, one after the other: each build uses all processors. A failure concerns only the specs
 * that use the tool; they report it, or are skipped.
 */
export async function buildTestTools(
  specs: ReadonlySet<string>,
  print: (line: string) => void,
  tools: readonly TestTool[] = TEST_TOOLS,
): Promise<void> {
  for (const { name, make } of tools.filter((tool) => tool.specs.some((spec) => specs.has(spec)))) {
    const startedMs = performance.now();
    await make().catch(() => undefined);
    const tookMs = performance.now() - startedMs;
    if (tookMs > SHOWN_MS) {
      print(`built ${name} in ${(tookMs / 1_000).toFixed(1)} s`);
    }
  }
}
