/** Runs scenarios with the SDK for TypeScript: carries out the commands of a driver. */

import type { Client, Guard, SessionGuard } from "@quoin/client";
import { createClient, QuoinError } from "@quoin/client";
import { callOperation, type Json, OPERATIONS } from "./operations.ts";

type Command = Readonly<Record<string, Json>>;

/** The text by which the driver knows the error of a block. */
const LEFT_MESSAGE = "left by the scenario";

/** How a run has ended. */
export interface RunEnd {
  readonly verdict: "passed" | "failed" | "unsupported";
  readonly message: string;
}

/** A call whose block of code runs. */
interface Leaving {
  readonly leave: (fails: boolean) => void;
}

class ScenarioRunner {
  readonly #url: string;
  readonly #clients = new Map<string, Client>();
  readonly #kept = new Map<string, unknown>();
  readonly #calls = new Map<number, AbortController>();
  readonly #blocks = new Map<number, Leaving>();

  /** @param url of the run. */
  constructor(url: string) {
    this.#url = url;
  }

  async run(): Promise<RunEnd> {
    try {
      for (;;) {
        const command = (await post(`${this.#url}/next`, {})) as Command;
        if (command.command === "end") {
          return { verdict: command.verdict as RunEnd["verdict"], message: String(command.message) };
        }
        this.#start(command);
      }
    } finally {
      for (const client of this.#clients.values()) {
        client.close();
      }
    }
  }

  #start(command: Command): void {
    const id = Number(command.id);
    const call = Number(command.call);
    switch (command.command) {
      case "client":
        void this.#answer(id, async () => this.#createClient(command));
        return;
      case "close":
        void this.#answer(id, async () => this.#clients.get(String(command.client))?.close());
        return;
      case "call":
        void this.#answer(id, () => this.#call(id, command));
        return;
      case "cancel":
        this.#calls.get(call)?.abort();
        return;
      case "leave":
        this.#blocks.get(call)?.leave(command.fails === true);
        return;
      default:
    }
  }

  /** Does something, and answers with its result or its error. */
  async #answer(id: number, work: () => Promise<unknown>): Promise<void> {
    let answer: object;
    try {
      answer = { result: neutral(await work()) ?? {} };
    } catch (thrown) {
      answer = errorAnswer(thrown);
    }
    this.#calls.delete(id);
    await post(`${this.#url}/answers`, { id, ...answer }).catch((error: unknown) => this.#ignoreAfterEnd(error));
  }

  /** After the end of its scenario, the driver takes no answer of a call any more. */
  #ignoreAfterEnd(error: unknown): void {
    if (!(error instanceof Error && /has ended|fetch failed/.test(error.message))) {
      throw error;
    }
  }

  #createClient({ client: name, options }: Command): void {
    const { apiKey, email, password, token, tokenFile, ...others } = camelCased(options) as Readonly<
      Record<string, Json>
    >;
    const kinds = Object.entries({ apiKey, email, password, token, tokenFile });
    const credentials = Object.fromEntries(kinds.filter(([, value]) => value !== undefined));
    const used = { ...others, credentials } as unknown as Parameters<typeof createClient>[0];
    this.#clients.set(String(name), createClient(used));
  }

  async #call(id: number, command: Command): Promise<unknown> {
    const { operation, client, of, keep, arguments: args } = command;
    if (!OPERATIONS.includes(String(operation))) {
      throw new Error(`the runner has no operation ${String(operation)}`);
    }
    const cancellation = new AbortController();
    this.#calls.set(id, cancellation);
    let entries = 0;
    return callOperation(String(operation), {
      client: this.#clients.get(String(client)),
      of: this.#kept.get(String(of)),
      args: this.#withGuards(args as Command),
      signal: cancellation.signal,
      keep: (thing) => this.#kept.set(String(keep), thing),
      block: async () => {
        entries += 1;
        await this.#block(id, entries);
      },
    });
  }

  /** Waits in the block of a call until the driver ends it. */
  async #block(id: number, entered: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#blocks.set(id, { leave: resolve });
    await post(`${this.#url}/answers`, { id, entered });
    if (await promise) {
      throw new Error(LEFT_MESSAGE);
    }
  }

  /** The arguments of the SDK, with the guards of kept holds and sessions. */
  #withGuards(args: Json): Readonly<Record<string, unknown>> {
    const { guard, ...others } = args as Command;
    const fields = this.#deepGuards(camelCased(others)) as Readonly<Record<string, unknown>>;
    return guard === undefined ? fields : { ...fields, guard: this.#guardOf(guard) };
  }

  #guardOf(guard: Json): unknown {
    const { hold, session } = guard as Command;
    const kept = this.#kept.get(String(hold ?? session)) as { readonly guard: Guard | SessionGuard } | undefined;
    return kept === undefined ? camelCased(guard) : kept.guard;
  }

  /** Conditions and operations of transactions name holds in the same way. */
  #deepGuards(value: unknown): unknown {
    if (Array.isArray(value)) {
      return value.map((one) => this.#deepGuards(one));
    }
    if (typeof value !== "object" || value === null) {
      return value;
    }
    const entries = Object.entries(value).map(([name, one]) => {
      const isGuard = (name === "hold" || name === "release") && typeof one === "object" && "hold" in one;
      return [name, isGuard ? this.#guardOf(one) : this.#deepGuards(one)];
    });
    return Object.fromEntries(entries);
  }
}

/** Runs a scenario. */
export async function runScenario(url: string, scenario: string): Promise<RunEnd> {
  const { run } = (await post(`${url}/runs`, { scenario, language: "typescript" })) as { readonly run: string };
  return new ScenarioRunner(`${url}/runs/${run}`).run();
}

async function post(url: string, body: object): Promise<unknown> {
  const response = await fetch(url, { method: "POST", body: JSON.stringify(body) });
  const answer = (await response.json()) as { readonly error?: string };
  if (!response.ok) {
    throw new Error(`the driver refused: ${answer.error}`);
  }
  return answer;
}

function errorAnswer(thrown: unknown): object {
  if (thrown instanceof QuoinError) {
    const { code, reason, outcome, retryable, details, requestId, message } = thrown;
    const error = { code, reason, outcome, retryable, details: Object.fromEntries(details), request_id: requestId };
    return { error: { ...error, message } };
  }
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return message === LEFT_MESSAGE ? { error: { code: "", message } } : { broken: inspected(thrown) };
}

function inspected(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
}

/** A result of the SDK in the words of the scenarios. */
function neutral(value: unknown): Json {
  if (typeof value === "bigint") {
    return Number(value);
  }
  if (value instanceof Uint8Array) {
    return new TextDecoder().decode(value);
  }
  if (Array.isArray(value)) {
    return value.map(neutral);
  }
  if (typeof value === "object" && value !== null) {
    return renamed(value, (name) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), neutral);
  }
  return value as Json;
}

/** Arguments in the words of the SDK. */
function camelCased(value: Json): unknown {
  if (Array.isArray(value)) {
    return value.map(camelCased);
  }
  if (typeof value === "object" && value !== null) {
    const object = value as Readonly<Record<string, Json>>;
    return renamed(
      object,
      (name) => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      (one) => camelCased(one as Json) as Json,
    );
  }
  return value;
}

function renamed(object: object, rename: (name: string) => string, convert: (value: unknown) => Json): Json {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [rename(name), convert(value)]));
}
