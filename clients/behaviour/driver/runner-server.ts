/** The HTTP interface for runners, as the README describes it. */

import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { type Conversation, RunnerFailure } from "./conversation.ts";
import type { Scenario } from "./scenario-file.ts";
import { isRecord, type Value } from "./values.ts";

const HOST = "127.0.0.1";
const NEXT_WAIT_MS = 20_000;
const RUN_PATH = /^\/runs\/([0-9]+)\/(next|answers)$/;

/** What runners learn about a scenario. */
export type OfferedScenario = Pick<Scenario, "name" | "title" | "subject" | "disturbs">;

/** Begins a run of an offered scenario. */
export type BeginRun<Offered> = (scenario: Offered, language: string, id: string) => Promise<Conversation>;

export class RunnerServer<Offered extends OfferedScenario> {
  readonly #scenarios: readonly Offered[];
  readonly #begin: BeginRun<Offered>;
  readonly #server: Server;
  readonly #runs = new Map<string, Conversation>();
  #count = 0;

  private constructor(scenarios: readonly Offered[], begin: BeginRun<Offered>) {
    this.#scenarios = scenarios;
    this.#begin = begin;
    this.#server = createServer((request, response) => {
      this.#answer(request).then(
        (body) => response.end(JSON.stringify(body)),
        (error: unknown) => {
          response.statusCode = error instanceof RunnerFailure ? 400 : 500;
          response.end(JSON.stringify({ error: error instanceof Error ? error.message : String(error) }));
        },
      );
    });
  }

  static async start<Offered extends OfferedScenario>(
    scenarios: readonly Offered[],
    begin: BeginRun<Offered>,
  ): Promise<RunnerServer<Offered>> {
    const started = new RunnerServer(scenarios, begin);
    started.#server.listen(0, HOST);
    await once(started.#server, "listening");
    return started;
  }

  get url(): string {
    return `http://${HOST}:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #answer(request: IncomingMessage): Promise<unknown> {
    const { method, url = "" } = request;
    if (method === "GET" && url === "/scenarios") {
      return this.#scenarios.map(({ name, title, subject, disturbs }) => ({ name, title, subject, disturbs }));
    }
    const body = method === "POST" ? await bodyOf(request) : {};
    if (url === "/runs") {
      return { run: await this.#beginRun(body) };
    }
    const [, id = "", part] = RUN_PATH.exec(url) ?? [];
    const run = this.#runs.get(id);
    if (method !== "POST" || run === undefined) {
      throw new RunnerFailure(`${method} ${url} is not served, or the run has ended`);
    }
    if (part === "answers") {
      run.take(body);
      return {};
    }
    const command = await run.next(NEXT_WAIT_MS);
    if (command?.command === "end") {
      this.#runs.delete(id);
    }
    return command ?? { command: "none" };
  }

  async #beginRun({ scenario: name, language }: Readonly<Record<string, Value>>): Promise<string> {
    const scenario = this.#scenarios.find((one) => one.name === name);
    if (scenario === undefined || typeof language !== "string") {
      throw new RunnerFailure(`there is no scenario ${String(name)}, or no language is given`);
    }
    this.#count += 1;
    const id = String(this.#count);
    this.#runs.set(id, await this.#begin(scenario, language, id));
    return id;
  }
}

async function bodyOf(request: IncomingMessage): Promise<Readonly<Record<string, Value>>> {
  const body = await json(request).catch((error: unknown) => {
    throw new RunnerFailure("the body is not JSON", { cause: error });
  });
  if (!isRecord(body)) {
    throw new RunnerFailure("the body is not an object");
  }
  return body;
}
