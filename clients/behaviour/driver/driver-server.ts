/** The HTTP interface for runners, and the runs that they have open. */

import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { appendFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import type { ScenarioResult } from "../results/index.ts";
import type { Scenario } from "./scenario-file.ts";
import { ScenarioProxies } from "./scenario-proxies.ts";
import { ScenarioRun } from "./scenario-run.ts";
import { TestCluster } from "./test-cluster.ts";
import { Turns } from "./turns.ts";
import { isRecord, type Value } from "./values.ts";

const HOST = "127.0.0.1";
const NEXT_WAIT_MS = 20_000;
const RUN_PATH = /^\/runs\/([0-9]+)\/(next|answers)$/;

/** A request that a runner must not make. */
class RunnerError extends Error {}

/** A run that a runner has begun. */
interface OpenRun {
  readonly run: ScenarioRun;
  readonly proxies: ScenarioProxies;
}

export class Driver {
  readonly #cluster: TestCluster;
  readonly #scenarios: readonly Scenario[];
  readonly #resultsFile: string | undefined;
  readonly #server: Server;
  readonly #runs = new Map<string, OpenRun>();
  readonly #turns = new Turns();
  #count = 0;

  private constructor(cluster: TestCluster, scenarios: readonly Scenario[], resultsFile: string | undefined) {
    this.#cluster = cluster;
    this.#scenarios = scenarios;
    this.#resultsFile = resultsFile;
    cluster.onChange = async (member) => {
      await Promise.all([...this.#runs.values()].map(({ proxies }) => proxies.note(member)));
    };
    this.#server = createServer((request, response) => {
      this.#answer(request).then(
        (body) => response.end(JSON.stringify(body)),
        (error: unknown) => {
          const isOfRunner = error instanceof RunnerError;
          response.statusCode = isOfRunner ? 400 : 500;
          response.end(JSON.stringify({ error: error instanceof Error ? error.message : String(error) }));
        },
      );
    });
  }

  /**
   * Starts a cluster, and serves runners.
   *
   * @param resultsFile gets a line for each scenario that has ended; undefined = none.
   */
  static async start(scenarios: readonly Scenario[], resultsFile: string | undefined): Promise<Driver> {
    const driver = new Driver(await TestCluster.start(), scenarios, resultsFile);
    driver.#server.listen(0, HOST);
    await once(driver.#server, "listening");
    return driver;
  }

  get url(): string {
    return `http://${HOST}:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Stops serving, and removes the cluster. */
  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    for (const { proxies } of this.#runs.values()) {
      proxies.close();
    }
    await this.#cluster.dispose();
  }

  async #answer(request: IncomingMessage): Promise<unknown> {
    const { method, url = "" } = request;
    if (method === "GET" && url === "/scenarios") {
      return this.#scenarios.map(({ name, title, subject, disturbs }) => ({ name, title, subject, disturbs }));
    }
    const body = method === "POST" ? await bodyOf(request) : {};
    if (url === "/runs") {
      return { run: await this.#begin(body) };
    }
    const [, id = "", part] = RUN_PATH.exec(url) ?? [];
    const open = this.#runs.get(id);
    if (method !== "POST" || open === undefined) {
      throw new RunnerError(`${method} ${url} is not served, or the run has ended`);
    }
    if (part === "answers") {
      return this.#take(open, body);
    }
    const command = await open.run.next(NEXT_WAIT_MS);
    if (command?.command === "end") {
      this.#runs.delete(id);
    }
    return command ?? { command: "none" };
  }

  #take({ run }: OpenRun, body: Readonly<Record<string, Value>>): object {
    try {
      run.take(body);
    } catch (error) {
      throw new RunnerError(error instanceof Error ? error.message : String(error), { cause: error });
    }
    return {};
  }

  /** Begins a run when its turn has come. */
  async #begin({ scenario: name, language }: Readonly<Record<string, Value>>): Promise<string> {
    const scenario = this.#scenarios.find((one) => one.name === name);
    if (scenario === undefined || typeof language !== "string") {
      throw new RunnerError(`there is no scenario ${String(name)}, or no language is given`);
    }
    const endTurn = await this.#turns.take(scenario.disturbs);
    try {
      this.#count += 1;
      const id = String(this.#count);
      const proxies = await ScenarioProxies.open(this.#cluster.members);
      const run = new ScenarioRun(scenario, this.#cluster, proxies, await this.#known(id, proxies));
      this.#runs.set(id, { run, proxies });
      void this.#carryOut({ run, proxies }, language).finally(endTurn);
      return id;
    } catch (error) {
      endTurn();
      throw error;
    }
  }

  /** What each scenario knows from the beginning. */
  async #known(id: string, proxies: ScenarioProxies): Promise<Readonly<Record<string, Value>>> {
    const namespace = `scenario-${id}`;
    await this.#cluster.createNamespace(namespace);
    return {
      namespace,
      endpoints: proxies.endpoints,
      uuid: randomUUID(),
      api_key: this.#cluster.apiKey,
      ...this.#cluster.owner,
      token: await this.#cluster.token(),
      leader: await this.#cluster.nameOf("leader"),
      follower: await this.#cluster.nameOf("follower"),
    };
  }

  async #carryOut({ run, proxies }: OpenRun, language: string): Promise<void> {
    const { name, disturbs } = run.scenario;
    const startMs = performance.now();
    const { verdict, message } = await run.run();
    const durationMs = Math.round(performance.now() - startMs);
    this.#record({ scenario: name, language, verdict, message, durationMs });
    if (disturbs) {
      await this.#cluster.restore();
    }
    run.send({ command: "end", verdict, message });
    proxies.close();
  }

  #record(result: ScenarioResult): void {
    if (this.#resultsFile !== undefined) {
      appendFileSync(this.#resultsFile, `${JSON.stringify(result)}\n`);
    }
  }
}

async function bodyOf(request: IncomingMessage): Promise<Readonly<Record<string, Value>>> {
  const body = await json(request).catch((error: unknown) => {
    throw new RunnerError("the body is not JSON", { cause: error });
  });
  if (!isRecord(body)) {
    throw new RunnerError("the body is not an object");
  }
  return body;
}
