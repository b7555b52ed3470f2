import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { BlackHole, programOf, temporaryDirectory } from "../../testing/index.ts";
import { configOf, installDefinitions } from "../test/api-server/index.ts";
import { clusterOf, until } from "../test/index.ts";
import { World } from "../test/world/index.ts";

/** A loopback address for members. */
const GONE = "127.86.0.1";
const ADMIN_PORT = 7403;
const MAIN = path.join(import.meta.dirname, "main.ts");

describe("operator as a process", () => {
  let world: World;
  let folder: string;
  let child: ChildProcess | null;
  let output: string;
  let hole: BlackHole | null;

  beforeEach(async () => {
    folder = temporaryDirectory();
    child = null;
    hole = null;
    output = "";
    world = new World();
    await world.open();
    installDefinitions(world.api.store);
  });

  afterEach(async () => {
    if (child !== null && child.exitCode === null && child.signalCode === null) {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
    await hole?.close();
    await world.close();
  });

  function start(...args: string[]): ChildProcess {
    const configuration = path.join(folder, "config");
    writeFileSync(configuration, configOf(world.api.url).exportConfig());
    child = spawn(process.execPath, [programOf(MAIN), ...args], {
      env: { ...process.env, KUBECONFIG: configuration },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (bytes: Buffer) => {
        output += bytes.toString("utf8");
      });
    }
    return child;
  }

  for (const [what, address] of [
    ["without a port", "*"],
    ["of IPv6 without brackets", "fd00::7:8080"],
    ["with a port beyond all", "*:65536"],
  ] as const) {
    it(`refuses an address ${what}`, async () => {
      const process = start("--name", "operator-1", "--namespace", "quoin-system", "--health", address);
      const [code] = await once(process, "close");
      expect(code).to.equal(1);
      expect(output).to.include("--health").and.include("host:port");
    });
  }

  function holder(): string | undefined {
    return world.api.store.find("leases", "quoin-system", "quoin-operator")?.spec.holderIdentity;
  }

  const FLAGS = ["--name", "operator-1", "--namespace", "quoin-system", "--health", "127.0.0.1:0"];

  for (const signal of ["SIGTERM", "SIGHUP"] as const) {
    it(`works until it gets ${signal}, and then releases the Lease and exits with 0`, async () => {
      const operator = start(...FLAGS);
      await until(() => holder() === "operator-1" || operator.exitCode !== null);
      expect(operator.exitCode, output).to.equal(null);
      // Opens no debugger: that would print a line, which is not JSON.
      operator.kill("SIGUSR1");
      operator.kill(signal);
      const [code] = await once(operator, "exit");
      expect(code, output).to.equal(0);
      expect(holder()).to.equal("");
      const lines = output
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).msg);
      expect(lines).to.include.members(["starting", "this operator is active now", "stopping", "stopped"]);
    }).timeout(30_000);
  }

  it("ends with 0, too, while it waits for another one", async () => {
    world.api.store.create("leases", "quoin-system", {
      metadata: { name: "quoin-operator" },
      spec: { holderIdentity: "operator-2", leaseDurationSeconds: 3_600 },
    });
    const operator = start(...FLAGS);
    await until(() => world.api.calls.some(({ plural }) => plural === "leases") || operator.exitCode !== null);
    operator.kill("SIGTERM");
    const [code] = await once(operator, "exit");
    expect([code, holder()], output).to.deep.equal([0, "operator-2"]);
  }).timeout(30_000);

  it("ends with 1 when another one holds the Lease", async () => {
    const operator = start(...FLAGS);
    await until(() => holder() === "operator-1" || operator.exitCode !== null);
    const { store } = world.api;
    store.merge("leases", store.get("leases", "quoin-system", "quoin-operator"), { spec: { holderIdentity: "other" } });
    const [code] = await once(operator, "exit");
    expect(code, output).to.equal(1);
  }).timeout(30_000);

  it("ends at once, though it is still connecting to a member whose machine is gone", async function () {
    if (process.platform !== "linux") {
      this.skip();
    }
    hole = await BlackHole.open(GONE, ADMIN_PORT);
    const kubelet = world.start.bind(world);
    world.start = (pod, claim) => {
      kubelet(pod, claim);
      return GONE;
    };
    world.now = Date.now();
    const { metadata, ...cluster } = clusterOf({
      replicas: 1,
      tls: { mode: "Off", certificateDays: 90, renewBeforeDays: 30 },
    });
    world.api.store.create("coordinationclusters", "default", { ...cluster, metadata: { name: metadata.name } });
    const operator = start(...FLAGS, "--log-level", "debug");
    await until(() => output.includes("a member did not answer") || operator.exitCode !== null);
    operator.kill("SIGTERM");
    const [code] = await once(operator, "exit");
    expect(code, output).to.equal(0);
  }).timeout(15_000);

  it("says which flag it misses", async () => {
    const operator = start("--name", "operator-1");
    const [code] = await once(operator, "exit");
    expect(code).to.equal(1);
    await until(() => output.includes("--namespace"));
  }).timeout(30_000);
});
