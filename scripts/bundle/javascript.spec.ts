import type { ChildProcess } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { temporaryDirectory } from "../../testing/index.ts";
import { bundleJavaScript } from "./javascript.ts";
import { repositoryRoot } from "./repository.ts";

const yaml = path.join(repositoryRoot, "node_modules/yaml/dist/index.js");

describe("bundleJavaScript", () => {
  let folder: string;

  beforeEach(() => {
    folder = temporaryDirectory();
  });

  /** Bundles a program that calls a function of a CommonJS package, which it loads with `import()`. */
  async function bundle(loaded: string): Promise<string> {
    const entry = path.join(folder, "entry.ts");
    writeFileSync(path.join(folder, "names.ts"), `export { stringify } from ${JSON.stringify(yaml)};\n`);
    writeFileSync(
      entry,
      `const { stringify } = await import(${JSON.stringify(loaded)});\nexport const text = stringify([1]);\n`,
    );
    const directory = path.join(folder, "out");
    await bundleJavaScript({ entries: { entry }, directory, format: "esm", extension: ".mjs", splitting: true });
    return (await import(pathToFileURL(path.join(directory, "entry.mjs")).href)).text;
  }

  it("keeps the names of a CommonJS package that a module exports", async () => {
    expect(await bundle("./names.ts")).to.equal("- 1\n");
  });

  it("has ended the bundler's process", async () => {
    const started: ChildProcess[] = [];
    const onStart = (message: unknown): void => void started.push((message as { process: ChildProcess }).process);
    subscribe("child_process", onStart);
    await bundle("./names.ts");
    unsubscribe("child_process", onStart);
    // It also ends when its input closes, whichever comes first.
    expect(started.map(({ exitCode, signalCode }) => exitCode ?? signalCode)).to.satisfy(
      ([how, ...others]: unknown[]) => others.length === 0 && (how === 0 || how === "SIGTERM"),
    );
  });

  it("refuses import() of CommonJS itself, which would have no names in the bundle", async () => {
    const failure = await bundle(yaml).then(
      () => undefined,
      (error: Error) => error.message,
    );
    expect(failure).to.match(/entry\.ts loads CommonJS with import\(\): .*yaml/);
  });
});
