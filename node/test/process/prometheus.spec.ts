/**
 * A real Prometheus against real members. Its promtool finds no error in their metrics and in the alerts of
 * docs/monitoring.md, and the server scrapes all of them. Skipped, with a message, where it is not installed.
 */

import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { serviceDefinitions, WatchKeysRequest } from "@quoin/proto";
import { expect } from "chai";
import { temporaryDirectory } from "../../../testing/index.ts";
import { METRIC_LISTS } from "../../src/api/metrics/index.ts";
import { ClusterUnderTest, GrpcCaller, until } from "../harness/index.ts";

const MONITORING = fileURLToPath(new URL("../../../docs/monitoring.md", import.meta.url));
const { createLock, acquireLock } = serviceDefinitions.LockService;
const { watchKeys } = serviceDefinitions.WatchService;
const LOCK = { namespace: "default", name: "a-lock" };
const KEYS = 7;

/** The rules in docs/monitoring.md. */
function documentedRules(): string {
  const blocks = [...readFileSync(MONITORING, "utf8").matchAll(/^```yaml\n(.*?)^```$/gms)].map(
    ([, text]) => text ?? "",
  );
  const rules = blocks.find((text) => text.startsWith("groups:"));
  if (rules === undefined) {
    throw new Error("docs/monitoring.md shows no alerts");
  }
  return rules;
}

/** The output of promtool about an input or a file. */
function promtool(args: readonly string[], input = ""): Promise<{ failed: boolean; output: string }> {
  return new Promise((resolve) => {
    const child = execFile("promtool", args, (error, stdout, stderr) => {
      resolve({ failed: error !== null, output: `${stdout}${stderr}` });
    });
    child.stdin?.end(input);
  });
}

/** A Prometheus on a port that it chose, with all of its files in a directory of the test. */
class Prometheus {
  readonly #process: ChildProcess;
  #output = "";
  #hasEnded = false;

  constructor(directory: string, targets: readonly string[]) {
    const rules = join(directory, "rules.yml");
    const configuration = join(directory, "prometheus.yml");
    writeFileSync(rules, documentedRules());
    // JSON is YAML.
    writeFileSync(
      configuration,
      JSON.stringify({
        global: { scrape_interval: "1s", evaluation_interval: "1s" },
        rule_files: [rules],
        scrape_configs: [{ job_name: "quoin", static_configs: [{ targets }] }],
      }),
    );
    this.#process = spawn(
      "prometheus",
      [
        ...[`--config.file=${configuration}`, `--storage.tsdb.path=${join(directory, "data")}`],
        "--web.listen-address=127.0.0.1:0",
      ],
      { stdio: ["ignore", "pipe", "pipe"] },
    );
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.#output += text;
      });
    }
    this.#process.once("exit", () => {
      this.#hasEnded = true;
    });
  }

  /** The answer of its HTTP API. */
  async ask<Data>(path: string): Promise<Data> {
    const address = await until("Prometheus to listen", () => {
      if (this.#hasEnded) {
        throw new Error(`Prometheus has ended:\n${this.#output}`);
      }
      return /msg="Listening on".* address=(127\.0\.0\.1:\d+)/.exec(this.#output)?.[1];
    });
    const answer = await until("Prometheus to be ready", async () => {
      const response = await fetch(`http://${address}/api/v1/${path}`);
      const text = await response.text();
      // Before it has read its files, it answers everything with 503, in plain text.
      return response.status !== 503 && (JSON.parse(text) as { data: Data });
    });
    return answer.data;
  }

  /** The single number that a query returns; null while there is none. */
  async valueOf(query: string): Promise<number | null> {
    const { result } = await this.ask<{ result: { value: [number, string] }[] }>(
      `query?query=${encodeURIComponent(query)}`,
    );
    return result[0] === undefined ? null : Number(result[0].value[1]);
  }

  async stop(): Promise<void> {
    if (!this.#hasEnded) {
      this.#process.kill("SIGKILL");
      await once(this.#process, "exit");
    }
  }
}

describe("a real Prometheus at three members", function () {
  this.timeout(120_000);
  let cluster: ClusterUnderTest | undefined;
  let caller: GrpcCaller | undefined;
  let prometheus: Prometheus | undefined;

  before(async function () {
    const missing = ["promtool", "prometheus"].filter(
      (program) => spawnSync(program, ["--version"]).error !== undefined,
    );
    if (missing.length > 0) {
      console.log(`skipped: ${missing.join(" and ")} not found; on Debian and Ubuntu: apt-get install prometheus`);
      this.skip();
    }
    cluster = await ClusterUnderTest.start(3);
    const metadata = new Map([
      ["authorization", `Bearer ${await cluster.tokens.token()}`],
      ["api-version", "v1"],
    ]);
    caller = new GrpcCaller((await cluster.leader()).ports.grpc, metadata);
    const client = cluster.client();
    const watch = caller.stream(watchKeys, WatchKeysRequest.fromPartial({ namespace: "default" }));
    for (let at = 0; at < KEYS * 5; at++) {
      await client.keyValue.put("default", `a-key-${at % KEYS}`, "a-value");
    }
    await caller.ask(createLock, LOCK);
    await caller.ask(createLock, LOCK);
    await caller.ask(acquireLock, LOCK);
    await watch.until("events", (messages) => messages.some(({ events }) => events.length > 0));
    watch.cancel();
  });

  after(async () => {
    await prometheus?.stop();
    caller?.close();
    await cluster?.dispose();
  });

  function members() {
    return cluster?.members ?? [];
  }

  async function metricsOf({ host, ports }: { host: string; ports: { health: number } }, port = ports.health) {
    return (await fetch(`http://${host}:${port}/metrics`)).text();
  }

  it("finds no error in the metrics of each member", async () => {
    for (const member of members()) {
      const text = await metricsOf(member);
      expect(await promtool(["check", "metrics"], text)).to.deep.equal({ failed: false, output: "" });
      for (const { name, type } of [...METRIC_LISTS.values()].flat()) {
        expect(text, name).to.include(`# TYPE ${name} ${type}\n`);
      }
    }
  });

  it("gets no text that clients have chosen, on either port", async () => {
    for (const member of members()) {
      for (const port of [member.ports.health, member.ports.http]) {
        const text = await metricsOf(member, port);
        expect(text).to.include("quoin_raft_term ");
        expect(text).to.not.match(/a-key|a-value|a-lock|"default"|quoin\.test|qk_|Bearer/);
      }
    }
  });

  it("accepts the alerts of docs/monitoring.md, which use existing metrics", async () => {
    const file = join(temporaryDirectory(), "rules.yml");
    writeFileSync(file, documentedRules());
    const { failed, output } = await promtool(["check", "rules", "--lint=all", "--lint-fatal", file]);
    expect(failed, output).to.equal(false);
    const known = new Set([...METRIC_LISTS.values()].flat().map(({ name }) => name));
    const text = readFileSync(MONITORING, "utf8");
    const used = new Set(
      [...text.matchAll(/\bquoin_[a-z_]+/g)].map(([name]) => name.replace(/_(bucket|sum|count)$/, "")),
    );
    expect(used.size).to.be.greaterThan(15);
    expect([...used].filter((name) => !known.has(name))).to.deep.equal([]);
  });

  it("scrapes all of them, and answers with their values", async () => {
    const targets = members().map(({ host, ports }) => `${host}:${ports.health}`);
    const server = new Prometheus(temporaryDirectory(), targets);
    prometheus = server;
    const become = (query: string, value: number) =>
      until(`${query} to be ${value}`, async () => (await server.valueOf(query)) === value);
    await become('count(up{job="quoin"} == 1)', 3);
    await become('sum(quoin_raft_role{role="leader"})', 1);
    await become("min(quoin_keys)", KEYS);
    await become("max(quoin_lock_holds)", 1);
    await become("count(quoin_raft_peer_contact_age_seconds < 5)", 2);
    await become('sum(quoin_grpc_requests_total{method="CreateLock",code="ALREADY_EXISTS"})', 1);
    await until("a rate", async () => ((await server.valueOf("sum(rate(process_cpu_seconds_total[10s]))")) ?? 0) > 0);
    const healthy = await until("the alerts to be looked at", async () => {
      const { groups } = await server.ask<{ groups: { rules: { name: string; health: string; state: string }[] }[] }>(
        "rules",
      );
      const rules = groups.flatMap((group) => group.rules);
      return rules.length > 0 && rules.every(({ health }) => health !== "unknown") && rules;
    });
    expect(healthy.filter(({ health }) => health !== "ok")).to.deep.equal([]);
    const firing = healthy.filter(({ state }) => state === "firing").map(({ name }) => name);
    expect(firing.filter((name) => name !== "QuoinDiskLow")).to.deep.equal([]);
  });
});
