/** The published package as its users have it: installed by npm in an empty folder, and run by each runtime. */

import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { BlackHole, run } from "../../../testing/index.ts";
import { ClusterUnderTest, TemporaryDirectories } from "../harness/index.ts";
import { installRuntimes, isUnreachable, npmInstall, type Runtime } from "./runtimes.ts";

const PACKAGER = fileURLToPath(new URL("../../../client/scripts/package.ts", import.meta.url));
const BODY = readFileSync(new URL("./runtime-program.js", import.meta.url), "utf8");
/** Many times what a run takes. A program that does not end by itself fails the test then. */
const LIMIT_MS = 60_000;
/** What a browser program installs with the package. */
const CONNECT = ["@connectrpc/connect@2.2.0", "@connectrpc/connect-web@2.2.0"];
/** Each runtime, with the module system of its program. */
const RUNS = [
  ["Node 20", "cjs"],
  ["Node 20", "mjs"],
  ["Node 22", "mjs"],
  ["Node 26", "mjs"],
  ["Bun", "mjs"],
  ["Deno", "mjs"],
] as const;

describe("the installed package", function () {
  // It may download four runtimes.
  this.timeout(600_000);

  const directories = new TemporaryDirectories();
  const running: ChildProcess[] = [];
  const sockets: Socket[] = [];
  let runtimes: readonly Runtime[] = [];
  let project: string;
  let cluster: ClusterUnderTest;
  let hole: BlackHole;
  let silent: Server;

  before(async function () {
    project = directories.make();
    const tarball = (await run(process.execPath, [PACKAGER, "--out", directories.make()])).trim();
    try {
      await npmInstall(project, [tarball, ...CONNECT]);
      runtimes = await installRuntimes();
    } catch (error) {
      // Only on a machine without a registry; the verification of each commit needs one.
      if (process.env.CI !== undefined || !isUnreachable(error)) throw error;
      process.stderr.write("skipped: npm reaches no registry, and its cache does not have the packages\n");
      this.skip();
    }
    writeFileSync(
      join(project, "program.mjs"),
      `import * as quoin from "@quoin/client";\n${BODY}\nawait useQuoin(quoin);\n`,
    );
    const body = BODY.replace(/^export /m, "");
    writeFileSync(join(project, "program.cjs"), `const quoin = require("@quoin/client");\n${body}\nuseQuoin(quoin);\n`);
    cluster = await ClusterUnderTest.start(1);
    hole = await BlackHole.open("127.0.0.1", 0);
    silent = createServer((socket) => {
      socket.on("error", () => undefined);
      sockets.push(socket);
    });
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  });

  after(async () => {
    for (const child of running) child.kill("SIGKILL");
    for (const socket of sockets) socket.destroy();
    silent?.close();
    await hole?.close();
    await cluster?.dispose();
    directories.removeAll();
  });

  for (const [name, kind] of RUNS) {
    it(`works with ${name}, in a program of type ${kind}, which ends when it closes the client`, async () => {
      const runtime = runtimes.find((each) => each.name === name)!;
      const seen = JSON.parse(await output(runtime, `program.${kind}`));
      expect(seen).to.deep.equal({
        value: "one",
        watched: ["PUT one"],
        work: true,
        events: ["1 first"],
        followed: 1,
        missing: [true, true, "NOT_FOUND"],
        wrong: "ttlSecond is not an option of keyValue.put; did you mean ttlSeconds?",
        ended: ["CANCELLED", "CANCELLED", "CANCELLED", "CANCELLED"],
      });
    });
  }

  it("has one class of errors for `import` and `require`", async () => {
    const both = join(project, "both.mjs");
    writeFileSync(
      both,
      'import { createRequire } from "node:module";\nimport { QuoinError } from "@quoin/client";\n' +
        'console.log(createRequire(import.meta.url)("@quoin/client").QuoinError === QuoinError);\n',
    );
    expect(await output(runtimes[0]!, both)).to.equal("true\n");
  });

  it("has quoinctl, which runs with the oldest Node", async () => {
    const quoinctl = join(project, "node_modules/.bin/quoinctl");
    expect(await output(runtimes[0]!, quoinctl, "kv", "put", "default/k", "v")).to.include("REVISION");
    expect(await output(runtimes[0]!, quoinctl, "kv", "get", "default/k")).to.equal("v\n");
  });

  it("has the services for connect-web, as the example of a page uses them", async () => {
    const file = join(project, "browser.mjs");
    const services = new URL("../../../client/examples/browser/services.js", import.meta.url);
    writeFileSync(join(project, "services.mjs"), readFileSync(services));
    writeFileSync(
      file,
      `import { connect } from "./services.mjs";
      const { keyValue, watch } = connect(process.env.QUOIN_HTTP_ENDPOINTS.split(",")[0], process.env.QUOIN_TOKEN);
      const key = { namespace: "default", key: "from a page" };
      const ending = new AbortController();
      const changes = watch.watchKeys({ namespace: "default", prefix: key.key }, ending)[Symbol.asyncIterator]();
      const { value: first } = await changes.next();
      await keyValue.putKey({ ...key, value: new TextEncoder().encode("hello") });
      let second;
      // A message without events only reports progress.
      do ({ value: second } = await changes.next());
      while (second.events.length === 0);
      ending.abort();
      const { version } = await keyValue.getKey(key);
      const error = await keyValue.getKey({ ...key, key: "none" }).catch((thrown) => thrown.metadata.get("error-reason"));
      const text = new TextDecoder();
      console.log(JSON.stringify([first.created, text.decode(second.events[0].kv.value), String(version), error]));\n`,
    );
    expect(JSON.parse(await output(runtimes[0]!, file))).to.deep.equal([true, "hello", "1", "KEY_NOT_FOUND"]);
  });

  /** The standard output of a program that ends by itself with the code 0. */
  async function output({ program, args }: Runtime, file: string, ...parameters: readonly string[]): Promise<string> {
    const child = spawn(program, [...args, file, ...parameters], {
      cwd: project,
      env: {
        ...process.env,
        HOME: project,
        QUOIN_ENDPOINTS: cluster.endpoints.join(","),
        QUOIN_HTTP_ENDPOINTS: cluster.httpEndpoints.join(","),
        QUOIN_TOKEN: await cluster.tokens.token(),
        UNREACHED: `127.0.0.1:${hole.port}`,
        UNANSWERED: `127.0.0.1:${(silent.address() as AddressInfo).port}`,
        // Neither asks the network for anything.
        DENO_NO_UPDATE_CHECK: "1",
        BUN_CONFIG_NO_TELEMETRY: "1",
      },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: LIMIT_MS,
      killSignal: "SIGKILL",
    });
    running.push(child);
    const written = { stdout: "", stderr: "" };
    child.stdout.setEncoding("utf8").on("data", (text: string) => (written.stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (written.stderr += text));
    const [code, signal] = await new Promise<unknown[]>((resolve) => {
      child.once("error", (error) => resolve([error.message, null]));
      child.once("close", (...end) => resolve(end));
    });
    expect([code, signal], `${written.stderr}\n${written.stdout}`).to.deep.equal([0, null]);
    return written.stdout;
  }
});
