/** One run of a scenario: carries out its steps, by commands for a runner, and decides whether it has passed. */

import { writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { temporaryDirectory, until } from "../../../testing/index.ts";
import { type AuthorityName, authorities } from "./authorities.ts";
import { type Answer, type Command, Conversation, type PendingCall, Unsupported } from "./conversation.ts";
import type { CallFault } from "./faults.ts";
import type { Scenario, Step } from "./scenario-file.ts";
import type { ScenarioProxies } from "./scenario-proxies.ts";
import type { TestCluster } from "./test-cluster.ts";
import { isRecord, mismatch, resolve, ScenarioFailure, show, type Value, type Variables } from "./values.ts";

export type Verdict = "passed" | "failed" | "unsupported";

const RUN_LIMIT_MS = 100_000;
const WAIT_LIMIT_MS = 30_000;
const SENT_LIMIT_MS = 2_000;
const POLL_MS = 5;
const POLL_MS_MAX = 50;
const REPEATABLE_CODES: readonly Value[] = ["UNAVAILABLE", "DEADLINE_EXCEEDED"];
const REPEATABLE_REASONS: readonly Value[] = ["RATE_LIMITED", "TOO_MANY_STREAMS"];
const OUTCOMES: readonly Value[] = ["not-executed", "unknown"];
/** The text of an error of a block that a scenario lets fail. */
export const LEFT_MESSAGE = "left by the scenario";

/** The options of a client by which it gets its tokens. */
const CREDENTIALS = ["api_key", "email", "token", "token_file"];

export class ScenarioRun {
  readonly scenario: Scenario;
  readonly conversation = new Conversation();
  readonly #cluster: TestCluster;
  readonly #proxies: ScenarioProxies;
  readonly #variables: Variables;
  readonly #background = new Map<string, PendingCall>();
  /** What streams have delivered and no step has compared. */
  readonly #events = new Map<string, Value[]>();
  /** Where its files are; undefined = it has none yet. */
  #directory: string | undefined;
  /** The place of the present step, for errors. */
  #place = "the beginning";

  constructor(
    scenario: Scenario,
    cluster: TestCluster,
    proxies: ScenarioProxies,
    known: Readonly<Record<string, Value>>,
  ) {
    this.scenario = scenario;
    this.#cluster = cluster;
    this.#proxies = proxies;
    this.#variables = new Map(Object.entries(known));
  }

  /** Carries out the scenario. Its end is the last command, which the caller sends. */
  async run(): Promise<{ readonly verdict: Verdict; readonly message: string }> {
    const timer = new AbortController();
    try {
      await Promise.race([this.#all(), this.#limit(timer.signal)]);
      return { verdict: "passed", message: "" };
    } catch (error) {
      if (error instanceof Unsupported) {
        return { verdict: "unsupported", message: error.message };
      }
      const message = error instanceof Error ? error.message : String(error);
      return { verdict: "failed", message: `${this.#place}: ${message}` };
    } finally {
      timer.abort();
    }
  }

  async #all(): Promise<void> {
    await this.#client("main", this.scenario.client, {});
    await this.#steps(this.scenario.steps, "step");
  }

  async #limit(signal: AbortSignal): Promise<never> {
    await sleep(RUN_LIMIT_MS, undefined, { signal }).catch(() => undefined);
    throw new ScenarioFailure(`the scenario has not ended within ${RUN_LIMIT_MS} ms`);
  }

  /** @returns whether the steps ended with a step that lets their block fail. */
  async #steps(steps: readonly Step[], place: string): Promise<boolean> {
    for (const [at, step] of steps.entries()) {
      this.#place = `${place} ${at + 1}`;
      if (step.fail === true) {
        return true;
      }
      await this.#step(step, `${place} ${at + 1}`);
    }
    return false;
  }

  async #step(step: Step, place: string): Promise<void> {
    const kind = Object.keys(STEPS).find((name) => name in step) ?? "";
    if (kind === "call") {
      await this.#call(step, place);
    } else if (kind === "repeat") {
      await this.#repeat(step, place);
    } else {
      await STEPS[kind]?.(this, this.#resolved(step));
    }
  }

  #resolved(step: Step): Step {
    return resolve(step, this.#variables) as Step;
  }

  async #repeat({ repeat, as, steps, until_sent: goal, every_ms: everyMs = 0 }: Step, place: string): Promise<void> {
    const isReached = (): boolean =>
      isRecord(goal) && this.#proxies.sent.of(String(goal.method)).length >= Number(goal.calls ?? 1);
    for (let count = 1; count <= Number(repeat); count++) {
      if (isReached()) {
        return;
      }
      if (as !== undefined) {
        this.#variables.set(String(as), count);
      }
      await this.#steps(steps as readonly Step[], `${place}, round ${count}, step`);
      await sleep(Number(everyMs));
    }
    if (goal !== undefined && !isReached()) {
      throw new ScenarioFailure(`after ${String(repeat)} rounds, ${show(goal)} was not sent`);
    }
  }

  async #client(name: string, options: Value, step: Step): Promise<void> {
    const chosen = isRecord(options) ? options : {};
    const { endpoints = this.#variables.get("endpoints") } = chosen;
    const credentials = CREDENTIALS.some((one) => one in chosen) ? {} : { api_key: this.#cluster.apiKey };
    const resolved = resolve({ ...chosen, ...credentials, endpoints }, this.#variables) as Record<string, Value>;
    const used = { ...resolved, endpoints: this.#endpoints(resolved.endpoints) };
    const pending = this.conversation.ask({ command: "client", client: name, options: used });
    this.#conclude(await pending.answered, step);
  }

  /** Addresses, in which `{member: NAME}` is the proxy of a member. */
  #endpoints(endpoints: Value): Value {
    return Array.isArray(endpoints)
      ? endpoints.map((one: Value) => (isRecord(one) ? this.#proxies.endpointOf(String(one.member)) : one))
      : endpoints;
  }

  async #call(step: Step, place: string): Promise<void> {
    const { background, eventually } = step;
    if (eventually === true) {
      await this.#callUntilExpected(step, place);
    } else if (background === undefined) {
      this.#conclude(await this.#begin(step, place).answered, step);
    } else {
      this.#background.set(String(resolve(background, this.#variables)), this.#begin(step, place));
    }
  }

  /** Calls again until the answer is the expected one. */
  async #callUntilExpected(step: Step, place: string): Promise<void> {
    const endMs = performance.now() + WAIT_LIMIT_MS;
    for (;;) {
      const { answered } = this.#begin(step, place);
      const answer = await answered;
      try {
        this.#conclude(answer, step);
        return;
      } catch (error) {
        if (!(error instanceof ScenarioFailure) || performance.now() > endMs) {
          throw error;
        }
        await sleep(POLL_MS_MAX);
      }
    }
  }

  #begin({ blocks = [], ...step }: Step, place: string): PendingCall {
    const { call: operation, on = "main", of, keep, with: given = {} } = step;
    const command = this.#resolved({
      command: "call",
      operation,
      ...(of === undefined ? { client: on } : { of }),
      ...(keep === undefined ? {} : { keep }),
      arguments:
        of === undefined && operation !== "cluster.get" ? { namespace: "$namespace", ...(given as Step) } : given,
    }) as Command;
    const pending = this.conversation.ask(command, async (count) => {
      const steps = (blocks as readonly (readonly Step[])[])[count - 1];
      if (steps === undefined) {
        throw new ScenarioFailure(`the block was called ${count} times`);
      }
      const fails = await this.#steps(steps, `${place}, block ${count}, step`);
      this.conversation.send({ command: "leave", call: pending.id, fails });
    });
    return pending;
  }

  /** Compares an answer with what a step expects. */
  #conclude(answer: Answer, { as, expect, error: expectedError }: Step): void {
    const { result = {}, error } = answer;
    if (as !== undefined) {
      this.#variables.set(String(as), error ?? result);
    }
    if (isRecord(error) && error.message !== LEFT_MESSAGE) {
      assertConsistent(error);
    }
    if (expectedError !== undefined) {
      if (!isRecord(error)) {
        throw new ScenarioFailure(`it succeeded with ${show(result)}, instead of an error`);
      }
      const known = resolve(expectedError, this.#variables) as Record<string, Value>;
      refuseMismatch(mismatch(withPlainField(known), withPlainField(error), "error"));
    } else if (error !== undefined) {
      throw new ScenarioFailure(`it failed: ${show(error)}`);
    } else if (expect !== undefined) {
      refuseMismatch(mismatch(resolve(expect, this.#variables), result, "result"));
    }
  }

  /** Writes a file, and makes its path known under its name. */
  writeFile(name: string, text: string): void {
    this.#directory ??= temporaryDirectory();
    const file = path.join(this.#directory, name);
    writeFileSync(file, text, { mode: 0o600 });
    this.#variables.set(name, file);
  }

  /** What steps other than calls and repetitions do, for the table below. */
  get parts() {
    return { cluster: this.#cluster, proxies: this.#proxies, variables: this.#variables };
  }

  async join(name: string, step: Step): Promise<void> {
    this.#conclude(await this.#pendingOf(name).answered, step);
    this.#background.delete(name);
  }

  cancel(name: string): void {
    this.conversation.send({ command: "cancel", call: this.#pendingOf(name).id });
  }

  async close(client: string): Promise<void> {
    this.#conclude(await this.conversation.ask({ command: "close", client }).answered, {});
  }

  async addClient(name: string, step: Step): Promise<void> {
    await this.#client(name, step.options, step);
  }

  /** Reads a stream until it has delivered as many events as expected. */
  async compareEvents(name: string, expected: readonly Value[]): Promise<void> {
    const received = this.#events.get(name) ?? [];
    this.#events.set(name, received);
    while (received.length < expected.length) {
      const command = { command: "call", of: name, operation: "stream.next", arguments: {} };
      const { error, result } = await this.conversation.ask(command).answered;
      if (!isRecord(result) || result.ended === true) {
        throw new ScenarioFailure(`after ${show(received)}, the stream ended with ${show(error ?? "no error")}`);
      }
      received.push(...((result.events ?? []) as readonly Value[]));
    }
    refuseMismatch(mismatch(expected, received.splice(0, expected.length), "events"));
  }

  #pendingOf(name: string): PendingCall {
    const pending = this.#background.get(name);
    if (pending === undefined) {
      throw new ScenarioFailure(`no call ${name} is in the background`);
    }
    return pending;
  }
}

/** The steps that one line each describes. They get the step with everything resolved. */
const STEPS: Readonly<Record<string, (run: ScenarioRun, step: Step) => void | Promise<void>>> = {
  call: () => undefined,
  repeat: () => undefined,
  join: (run, step) => run.join(String(step.join), step),
  cancel: (run, { cancel }) => run.cancel(String(cancel)),
  events: (run, { events, expect }) => run.compareEvents(String(events), expect as readonly Value[]),
  client: (run, step) => run.addClient(String(step.client), step),
  close: (run, { close }) => run.close(String(close)),
  fault: (run, { fault }) => run.parts.proxies.arm(fault as unknown as CallFault),
  clear: (run) => run.parts.proxies.clear(),
  cluster: (run, step) => actOnCluster(run, step),
  sent: async (run, { sent }) => {
    const { method, ...said } = sent as Record<string, Value>;
    const refuted = (): string | undefined => run.parts.proxies.sent.refute(String(method), said);
    // What a client has sent, such as a cancellation, arrives a little later.
    const limits = { limitMs: SENT_LIMIT_MS, pollMs: POLL_MS, pollMsMax: POLL_MS_MAX };
    const isTrue = async (): Promise<boolean> => refuted() === undefined;
    await until("what was sent", isTrue, limits).catch(() => refuseMismatch(refuted()));
  },
  await_sent: async (run, { await_sent: goal }) => {
    const { method, calls = 1 } = goal as Record<string, Value>;
    const isThere = async (): Promise<boolean> => run.parts.proxies.sent.of(String(method)).length >= Number(calls);
    const limits = { limitMs: WAIT_LIMIT_MS, pollMs: POLL_MS, pollMsMax: POLL_MS_MAX };
    await until(`${String(calls)} calls of ${String(method)}`, isThere, limits);
  },
  forget_sent: (run) => run.parts.proxies.sent.forget(),
  pause_ms: async (_, { pause_ms: durationMs }) => {
    await sleep(Number(durationMs));
  },
  write_file: (run, { write_file: name, text, authority }) => {
    const certificate = authority === undefined ? undefined : authorities()[authority as AuthorityName].certificate;
    run.writeFile(String(name), certificate ?? String(text));
  },
  connections: async (run, { connections }) => {
    const isTrue = async (): Promise<boolean> => run.parts.proxies.connections === connections;
    const limits = { limitMs: SENT_LIMIT_MS, pollMs: POLL_MS, pollMsMax: POLL_MS_MAX };
    await until("connections", isTrue, limits).catch(() => {
      throw new ScenarioFailure(`${run.parts.proxies.connections} connections are open, not ${show(connections)}`);
    });
  },
};

async function actOnCluster({ parts }: ScenarioRun, { cluster: action, member = "" }: Step): Promise<void> {
  if (action === "new_namespace") {
    await parts.cluster.renewNamespace(String(parts.variables.get("namespace")));
    return;
  }
  const name = member === "" ? "" : await parts.cluster.nameOf(String(member));
  await parts.cluster.act(String(action), name);
}

function refuseMismatch(problem: string | undefined): void {
  if (problem !== undefined) {
    throw new ScenarioFailure(problem);
  }
}

/** What is true of every error of an SDK. Throws a ScenarioFailure. */
function assertConsistent(error: Readonly<Record<string, Value>>): void {
  const { code = "", reason = "", outcome, retryable } = error;
  const isRepeatable = REPEATABLE_CODES.includes(code) || REPEATABLE_REASONS.includes(reason);
  if (!OUTCOMES.includes(outcome) || retryable !== isRepeatable) {
    throw new ScenarioFailure(`the error ${show(error)} should have an outcome, and be retryable: ${isRepeatable}`);
  }
}

/** An error whose detail `field` is spelled as in no language in particular, and without the path to it. */
function withPlainField(error: Readonly<Record<string, Value>>): Value {
  const { details } = error;
  if (!isRecord(details) || typeof details.field !== "string") {
    return error;
  }
  const field = details.field.split(".").at(-1)?.replaceAll("_", "").toLowerCase();
  return { ...error, details: { ...details, field } };
}
