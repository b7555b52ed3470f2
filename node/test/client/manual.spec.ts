/** The examples of the manual, page by page, as a reader runs them on three real members. */

import { globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { programOf, temporaryDirectory } from "../../../testing/index.ts";
import { ClusterUnderTest, QUOINCTL_PROGRAM, TestProcess } from "../harness/index.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const INTRODUCTION = "docs/concepts/README.md";
const docs = (...names: readonly string[]): string[] => names.map((name) => `docs/${name}.md`);
const CONCEPTS = globSync("docs/concepts/*.md", { cwd: ROOT }).sort();
/** The pages whose commands fit into a cluster of `npm start`. */
const PAGES = [...CONCEPTS, ...docs("README", "command-line", "errors", "guarantees", "comparison", "faq")];
/** The pages whose programs do, but whose commands take long, change members, or need other tools. */
const PAGES_OF_PROGRAMS = docs("recipes", "writing-a-client", "troubleshooting", "benchmarks", "reliability");
/** The address of the first member of `npm start`. */
const LOCAL_HTTP = "http://127.0.0.1:7401";
/** These last until Ctrl-C. */
const ENDLESS = /^npm start$|\b(watch (keys|locks)|log tail) (?!.*--limit)/;
const REFUSED = 1;
const SECONDS_MAX = 300;

/** A command of a page, and the exit code that its comment announces. */
interface Command {
  readonly text: string;
  readonly code: number;
}

/** The blocks of code in a language. */
function blocksOf(page: string, language: string): string[] {
  const text = readFileSync(join(ROOT, page), "utf8");
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"))].map(([, code = ""]) => code);
}

/** The commands of a page that end by themselves. */
function commandsOf(page: string): Command[] {
  const lines = blocksOf(page, "sh").flatMap((block) => block.replaceAll("\\\n", "").trimEnd().split("\n"));
  return lines
    .filter((line) => line !== "" && !ENDLESS.test(line))
    .map((text) => {
      const [, stated, reason] = / # .*exit code (\d)| # ([A-Z]+(?:_[A-Z]+)*)[:,]/.exec(text) ?? [];
      return { text, code: stated === undefined ? (reason === undefined ? 0 : REFUSED) : Number(stated) };
    });
}

describe("the examples of the manual on three members", function () {
  this.timeout(SECONDS_MAX * 1_000);

  let cluster: ClusterUnderTest;
  let directory: string;

  before(async () => {
    cluster = await ClusterUnderTest.start(3);
    directory = temporaryDirectory();
    mkdirSync(join(directory, ".quoin"));
    const { endpoints: grpc, httpEndpoints: http } = cluster;
    const { apiKey } = cluster.secrets;
    writeFileSync(join(directory, ".quoin/endpoints.json"), JSON.stringify({ grpc, http, apiKey }), { mode: 0o600 });
    symlinkSync(join(ROOT, "node_modules"), join(directory, "node_modules"));
    mkdirSync(join(directory, "bin"));
    const npx = `#!/bin/sh\nshift\nexec "${process.execPath}" "${programOf(QUOINCTL_PROGRAM)}" "$@"\n`;
    writeFileSync(join(directory, "bin/npx"), npx, { mode: 0o700 });
  });

  ClusterUnderTest.describeFailures(() => cluster);

  after(() => cluster.dispose());

  /** Runs the program to its end, and returns what it printed. */
  async function outputOf(program: string, args: readonly string[]): Promise<string> {
    const PATH = [join(directory, "bin"), dirname(process.execPath), process.env.PATH].join(":");
    const child = new TestProcess(program, args, { cwd: directory, env: { ...process.env, HOME: directory, PATH } });
    try {
      const { code } = await child.ended;
      expect(code, `${child.stdout}\n${child.stderr}`).to.equal(0);
      return `${child.stdout}\n${child.stderr}`;
    } finally {
      await child.dispose();
    }
  }

  /** Runs the commands one after the other in one shell, and checks their exit codes. */
  async function runCommands(commands: readonly Command[]): Promise<void> {
    const lines = commands.flatMap(({ text, code }, at) => [
      `{\n${text.replaceAll(LOCAL_HTTP, cluster.httpEndpoints[0] ?? "")}\n}`,
      // The next commands may wait for ever for what this one has not done, such as a watch for a key.
      `code=$?; [ $code -eq ${code} ] || { echo "DIFFERENT: command ${at} ended with $code"; exit; }`,
    ]);
    const script = join(directory, "page.mjs");
    // A bash whose standard input is a socket takes itself for a remote shell, and reads the files of the machine.
    const shell = JSON.stringify(["--norc", "-u", "-c", lines.join("\n")]);
    const run = `import { spawnSync } from "node:child_process";\n`;
    writeFileSync(script, `${run}process.exitCode = spawnSync("bash", ${shell}, { stdio: "inherit" }).status;\n`);
    const output = await outputOf(script, []);
    expect(output).to.not.include("DIFFERENT");
    expect(output).to.not.match(/not found|unbound variable|parse error|jq: error/);
  }

  it("README.md: its first commands may be typed twice", async () => {
    const [, block = ""] = blocksOf("README.md", "sh");
    const commands = block
      .trimEnd()
      .split("\n")
      .filter((line) => !ENDLESS.test(line));
    expect(commands).to.have.lengthOf.at.least(8);
    await runCommands([...commands, ...commands].map((text) => ({ text, code: 0 })));
  });

  for (const page of PAGES) {
    it(`${page}: the commands end as the page says`, async () => {
      const commands = commandsOf(page);
      const opening = commandsOf(INTRODUCTION).filter(({ text: definition }) => {
        const [, name] = /^([A-Z]+)=/.exec(definition) ?? [];
        return name !== undefined && commands.some(({ text }) => text.includes(`$${name}`));
      });
      await runCommands([...opening, ...commands]);
    });
  }

  for (const page of [...PAGES, ...PAGES_OF_PROGRAMS]) {
    it(`${page}: the programs run`, async () => {
      const [opening = ""] = blocksOf(INTRODUCTION, "ts");
      const [connected = ""] = opening.split("console.log");
      for (const block of blocksOf(page, "ts").filter((code) => code !== opening)) {
        const program = join(directory, "try.ts");
        writeFileSync(program, `${connected}${block}\nclient.close();\nvoid QuoinError;\n`);
        await outputOf(program, []);
      }
      expect(connected).to.include("createClient(");
    });
  }

  it("docs/sdks.md: the tabs in TypeScript are one program", async () => {
    const blocks = blocksOf("docs/sdks.md", "ts \\[TypeScript\\]");
    expect(blocks).to.have.lengthOf(4);
    const program = join(directory, "tabs.ts");
    const key = `process.env.QUOIN_API_KEY = ${JSON.stringify(cluster.secrets.apiKey)};\n`;
    writeFileSync(program, key + blocks.join("\n").replace("127.0.0.1:7400", cluster.endpoints[0] ?? ""));
    expect(await outputOf(program, [])).to.match(/^hello\n.*greeting\n/);
  });
});
