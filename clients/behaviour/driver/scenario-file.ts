/** Reads the files of scenarios, and refuses what the format does not have. */

import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { parse } from "yaml";
import { FACT_NAMES } from "./sent-calls.ts";
import { isRecord, type Value } from "./values.ts";
import { METHOD_NAMES } from "./wire.ts";

/** A step, as it stands in the file. */
export type Step = Readonly<Record<string, Value>>;

/** A scenario. */
export interface Scenario {
  /** Subject and name: `retries/unavailable`. */
  readonly name: string;
  readonly title: string;
  readonly subject: string;
  /** Whether it kills or pauses members. */
  readonly disturbs: boolean;
  /** Options of the client `main`. */
  readonly client: Readonly<Record<string, Value>>;
  readonly steps: readonly Step[];
}

/** An operation of an SDK. */
interface OperationForm {
  readonly arguments: readonly string[];
  readonly result: readonly string[];
  readonly of?: string;
  readonly keeps?: string;
  readonly block?: boolean;
}

/** The further fields of a step, by the field that says what it does. */
const STEP_FIELDS: Readonly<Record<string, readonly string[]>> = {
  call: ["on", "of", "with", "keep", "as", "expect", "error", "background", "eventually", "blocks"],
  join: ["as", "expect", "error"],
  cancel: [],
  events: ["expect"],
  client: ["options", "expect", "error"],
  close: [],
  fault: [],
  clear: [],
  cluster: ["member"],
  sent: [],
  await_sent: [],
  forget_sent: [],
  pause_ms: [],
  repeat: ["as", "steps", "until_sent", "every_ms"],
  write_file: ["text", "authority"],
  connections: [],
  fail: [],
};

const CALL_FAULT_FIELDS = ["on", "times", "after", "at", "with", "delay_ms"];
const EFFECTS = ["answer", "lose_answer", "hang", "cut", "change", "end_after", "silence_after"];
const ERROR_ANSWER_FIELDS = ["code", "reason", "outcome", "message", "leader", "retry_after_ms", "details"];
const PROXY_FAULTS = ["refuse", "blackhole", "cut_streams", "certificate"];
const CLUSTER_ACTIONS = ["kill", "pause", "resume", "start", "lead", "settled", "compact", "new_namespace"];
const CLIENT_OPTIONS = ["endpoints", "api_key", "email", "password", "token", "token_file", "tls", "timeout_ms"];
const ERROR_FIELDS = ["code", "reason", "outcome", "retryable", "details", "request_id", "message"];
const COMMON_ARGUMENTS = ["timeout_ms", "request_id", "namespace"];

/** Checks one file. Its problems name the file, the scenario and the step. */
class FileCheck {
  readonly problems: string[] = [];
  readonly #file: string;
  readonly #operations: ReadonlyMap<string, OperationForm>;

  constructor(file: string, operations: ReadonlyMap<string, OperationForm>) {
    this.#file = file;
    this.#operations = operations;
  }

  complain(where: string, problem: string): void {
    this.problems.push(`${this.#file}: ${where}: ${problem}`);
  }

  fields(where: string, value: Value, allowed: readonly string[], required: readonly string[] = []): void {
    if (!isRecord(value)) {
      this.complain(where, "must be an object");
      return;
    }
    for (const name of Object.keys(value).filter((one) => !allowed.includes(one))) {
      this.complain(where, `unknown field ${name}; the fields are ${allowed.join(", ")}`);
    }
    for (const name of required.filter((one) => !(one in value))) {
      this.complain(where, `the field ${name} is missing`);
    }
  }

  options(where: string, options: Value): void {
    this.fields(where, options, CLIENT_OPTIONS);
    if (isRecord(options) && options.tls !== undefined) {
      this.fields(`${where}.tls`, options.tls, ["ca_file"]);
    }
  }

  list(where: string, value: Value, check: (where: string, item: Value) => void): void {
    if (!Array.isArray(value)) {
      this.complain(where, "must be a list");
      return;
    }
    for (const [at, item] of value.entries()) {
      check(`${where}[${at}]`, item);
    }
  }

  steps(where: string, value: Value): void {
    this.list(where, value, (place, step) => this.#step(place, step));
  }

  #step(where: string, step: Value): void {
    const kinds = isRecord(step) ? Object.keys(step).filter((name) => Object.hasOwn(STEP_FIELDS, name)) : [];
    const [kind] = kinds;
    if (!isRecord(step) || kind === undefined || kinds.length > 1) {
      this.complain(where, `must have exactly one of ${Object.keys(STEP_FIELDS).join(", ")}`);
      return;
    }
    this.fields(where, step, [kind, ...(STEP_FIELDS[kind] ?? [])]);
    if (step.error !== undefined) {
      this.fields(`${where}.error`, step.error, ERROR_FIELDS);
    }
    CHECKS[kind]?.(this, where, step);
  }

  method(where: string, name: Value): void {
    if (!METHOD_NAMES.has(String(name))) {
      this.complain(where, `the contract has no method ${String(name)}`);
    }
  }

  call(where: string, step: Step): void {
    const form = this.#operations.get(String(step.call));
    if (form === undefined) {
      this.complain(where, `unknown operation ${String(step.call)}`);
      return;
    }
    const isOfClient = form.of === undefined;
    if ((step.of === undefined) !== isOfClient || (step.on !== undefined && !isOfClient)) {
      this.complain(where, `${String(step.call)} belongs to a ${form.of ?? "client"}`);
    }
    if (step.keep !== undefined && form.keeps === undefined) {
      this.complain(where, `${String(step.call)} returns nothing that can be kept`);
    }
    if ((step.blocks !== undefined) !== (form.block === true)) {
      this.complain(where, `${String(step.call)} runs ${form.block === true ? "blocks" : "no blocks"}`);
    }
    const named = form.arguments.map((name) => name.replace("?", ""));
    this.fields(`${where}.with`, step.with ?? {}, [...named, ...COMMON_ARGUMENTS]);
    if (step.blocks !== undefined) {
      this.list(`${where}.blocks`, step.blocks, (place, steps) => this.steps(place, steps));
    }
  }

  fault(where: string, fault: Value): void {
    if (isRecord(fault) && PROXY_FAULTS.some((name) => name in fault)) {
      this.fields(where, fault, PROXY_FAULTS);
      return;
    }
    this.fields(where, fault, [...CALL_FAULT_FIELDS, ...EFFECTS], ["on"]);
    if (!isRecord(fault)) {
      return;
    }
    const effects = EFFECTS.filter((name) => name in fault);
    if (effects.length > 1 || (effects.length === 0 && fault.delay_ms === undefined)) {
      this.complain(where, `must have a delay_ms, or exactly one of ${EFFECTS.join(", ")}`);
    }
    if (fault.on !== "any") {
      this.method(where, fault.on);
    }
    for (const name of ["answer", "lose_answer", "with"]) {
      if (fault[name] !== undefined && fault[name] !== "cut") {
        this.fields(`${where}.${name}`, fault[name], ERROR_ANSWER_FIELDS, ["code"]);
      }
    }
  }

  cluster(where: string, { cluster: action, member }: Step): void {
    if (!CLUSTER_ACTIONS.includes(String(action))) {
      this.complain(where, `unknown action ${String(action)}; the actions are ${CLUSTER_ACTIONS.join(", ")}`);
    }
    if (["kill", "pause", "resume", "start", "lead"].includes(String(action)) !== (member !== undefined)) {
      this.complain(where, `${String(action)} ${member === undefined ? "needs a" : "takes no"} member`);
    }
  }

  sent(where: string, said: Value, names: readonly string[]): void {
    this.fields(where, said, ["method", ...names], ["method"]);
    this.method(where, isRecord(said) ? said.method : undefined);
  }
}

/** What is checked of each kind of step, besides the names of its fields. */
const CHECKS: Readonly<Record<string, (file: FileCheck, where: string, step: Step) => void>> = {
  call: (file, where, step) => file.call(where, step),
  client: (file, where, step) => file.options(`${where}.options`, step.options ?? {}),
  write_file: (file, where, { text, authority }) => {
    if ((text === undefined) === (authority === undefined)) {
      file.complain(where, "must have either text or authority");
    }
  },
  fault: (file, where, step) => file.fault(`${where}.fault`, step.fault),
  cluster: (file, where, step) => file.cluster(where, step),
  sent: (file, where, step) => file.sent(`${where}.sent`, step.sent, FACT_NAMES),
  await_sent: (file, where, step) => file.sent(`${where}.await_sent`, step.await_sent, ["calls"]),
  repeat: (file, where, step) => {
    file.steps(`${where}.steps`, step.steps);
    if (step.until_sent !== undefined) {
      file.sent(`${where}.until_sent`, step.until_sent, ["calls"]);
    }
  },
};

/**
 * Reads all scenarios of a folder, by file and in order.
 *
 * @param directory has `operations.yaml` and the folder `scenarios`.
 * @returns them; throws an Error with a line for each problem, which names the file, the scenario and the step.
 */
export function readScenarios(directory: string): readonly Scenario[] {
  const operations = readOperations(directory);
  const problems: string[] = [];
  const scenarios: Scenario[] = [];
  const folder = path.join(directory, "scenarios");
  for (const file of readdirSync(folder)
    .filter((name) => name.endsWith(".yaml"))
    .sort()) {
    const read = parseScenarios(file, readFileSync(path.join(folder, file), "utf8"), operations);
    problems.push(...read.problems);
    scenarios.push(...read.scenarios);
  }
  if (problems.length > 0) {
    throw new Error(`the scenarios are wrong:\n${problems.join("\n")}`);
  }
  return scenarios;
}

/** The operations of an SDK, by name. */
export function readOperations(directory: string): ReadonlyMap<string, OperationForm> {
  const read = parse(readFileSync(path.join(directory, "operations.yaml"), "utf8")) as Record<string, OperationForm>;
  return new Map(Object.entries(read));
}

/** Reads the text of one file. Nothing is wrong if there are no problems. */
export function parseScenarios(
  file: string,
  text: string,
  operations: ReadonlyMap<string, OperationForm>,
): { readonly scenarios: readonly Scenario[]; readonly problems: readonly string[] } {
  const check = new FileCheck(file, operations);
  const scenarios: Scenario[] = [];
  const content = parse(text) as Value;
  check.fields("the file", content, ["subject", "scenarios"], ["subject", "scenarios"]);
  if (!isRecord(content)) {
    return { scenarios, problems: check.problems };
  }
  const names = new Set<string>();
  check.list("scenarios", content.scenarios, (where, item) => {
    const name = isRecord(item) && typeof item.name === "string" ? item.name : where;
    check.fields(name, item, ["name", "title", "disturbs", "client", "steps"], ["name", "title", "steps"]);
    if (names.has(name)) {
      check.complain(name, "another scenario of the file has this name");
    }
    names.add(name);
    if (!isRecord(item)) {
      return;
    }
    const { title, disturbs = false, client = {}, steps = [] } = item;
    check.options(`${name}.client`, client);
    check.steps(`${name}.steps`, steps);
    const subject = String(content.subject);
    scenarios.push({
      name: `${subject}/${name}`,
      title: String(title),
      subject,
      disturbs: disturbs === true,
      client: client as Scenario["client"],
      steps: steps as readonly Step[],
    });
  });
  return { scenarios, problems: check.problems };
}
