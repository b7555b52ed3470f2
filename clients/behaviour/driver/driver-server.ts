/** The driver: runs scenarios for runners, at one cluster. */

import { randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";
import type { ScenarioResult } from "../results/index.ts";
import type { Conversation } from "./conversation.ts";
import { RunnerServer } from "./runner-server.ts";
import type { Scenario } from "./scenario-file.ts";
import { ScenarioProxies } from "./scenario-proxies.ts";
import { ScenarioRun } from "./scenario-run.ts";
import { TestCluster } from "./test-cluster.ts";
import { Turns } from "./turns.ts";
import type { Value } from "./values.ts";

export class Driver {
  readonly #cluster: TestCluster;
  readonly #resultsFile: string | undefined;
  /** Of the runs that have not ended. */
  readonly #proxies = new Set<ScenarioProxies>();
  readonly #turns = new Turns();
  #server: RunnerServer<Scenario> | undefined;

  private constructor(cluster: TestCluster, resultsFile: string | undefined) {
    this.#cluster = cluster;
    this.#resultsFile = resultsFile;
    cluster.onChange = async (member) => {
      await Promise.all([...this.#proxies].map((proxies) => proxies.note(member)));
    };
  }

  /**
   * Starts a cluster, and serves runners.
   *
   * @param resultsFile gets a line for each scenario that has ended; undefined = none.
   */
  static async start(scenarios: readonly Scenario[], resultsFile: string | undefined): Promise<Driver> {
    const driver = new Driver(await TestCluster.start(), resultsFile);
    driver.#server = await RunnerServer.start(scenarios, (...begun) => driver.#begin(...begun));
    return driver;
  }

  get url(): string {
    return this.#server?.url ?? "";
  }

  /** Stops serving, and removes the cluster. */
  async close(): Promise<void> {
    this.#server?.close();
    for (const proxies of this.#proxies) {
      proxies.close();
    }
    await this.#cluster.dispose();
  }

  /** Begins a run when its turn has come. */
  async #begin(scenario: Scenario, language: string, id: string): Promise<Conversation> {
    const endTurn = await this.#turns.take(scenario.disturbs);
    try {
      const proxies = await ScenarioProxies.open(this.#cluster.members);
      const run = new ScenarioRun(scenario, this.#cluster, proxies, await this.#known(id, proxies));
      this.#proxies.add(proxies);
      void this.#carryOut(run, proxies, language).finally(endTurn);
      return run.conversation;
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

  async #carryOut(run: ScenarioRun, proxies: ScenarioProxies, language: string): Promise<void> {
    const { name, disturbs } = run.scenario;
    const startMs = performance.now();
    const { verdict, message } = await run.run();
    const durationMs = Math.round(performance.now() - startMs);
    this.#record({ scenario: name, language, verdict, message, durationMs });
    if (disturbs) {
      await this.#cluster.restore();
    }
    run.conversation.send({ command: "end", verdict, message });
    this.#proxies.delete(proxies);
    proxies.close();
  }

  #record(result: ScenarioResult): void {
    if (this.#resultsFile !== undefined) {
      appendFileSync(this.#resultsFile, `${JSON.stringify(result)}\n`);
    }
  }
}
