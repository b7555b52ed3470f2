/**
 * Puts and gets whose calls come from a program in Go (`bench/load`), so that the figures do not include the cost of
 * our own client. The program sends the same bytes to each system, except for the number in the key of each call.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import type { Connection, RawCall, RawCalls } from "../clusters/index.ts";
import { keysOf } from "./capabilities.ts";
import { connectionsPerMember } from "./connections.ts";
import { assertGrown } from "./revisions.ts";
import type { Bounds, Load, LoadResult, Scenario, Workload, WorkloadContext } from "./scenario.ts";
import { KEYS_READ, writeKeysToRead } from "./written-keys.ts";

/** The program's input; see its `Order`. */
interface Order extends Omit<RawCall, "body"> {
  readonly endpoints: readonly string[];
  readonly connections: number;
  readonly inFlight: number;
  readonly ms: number;
  readonly operations: number;
  readonly body: string;
  readonly numberAt: number;
  readonly digits: number;
  readonly first: number;
  readonly numbers: number;
}

/** The program's output; see its `Report`. */
interface Report {
  readonly durationMs: number;
  readonly cpuMs: number;
  readonly latenciesMs: readonly number[];
}

const KEY_PREFIX = "bench/go/";
const DIGITS = 16;
/** Longer than any run. */
const NO_BOUND_MS = 24 * 60 * 60 * 1000;

/** The scenarios that the program supports. */
export const GO_SCENARIOS: readonly string[] = ["put", "get"];

/** The same scenario, with calls of the program. Raises an error if the program does not support it. */
export function byGo(scenario: Scenario, program: string): Scenario {
  if (!GO_SCENARIOS.includes(scenario.name)) {
    throw new Error(`the generator in Go cannot do ${scenario.name}`);
  }
  const isPut = scenario.name === "put";
  return { ...scenario, createWorkload: (valueBytes) => new GoWorkload(program, isPut, Buffer.alloc(valueBytes, "v")) };
}

class GoWorkload implements Workload {
  readonly program: string;
  readonly isPut: boolean;
  readonly value: Buffer;
  /** Puts use numbers above those of the keys to read. */
  next = KEYS_READ;

  constructor(program: string, isPut: boolean, value: Buffer) {
    this.program = program;
    this.isPut = isPut;
    this.value = value;
  }

  async prepare(connection: Connection): Promise<void> {
    await writeKeysToRead(connection, keyOf, this.value);
  }

  async open(context: WorkloadContext, concurrency: number): Promise<Load> {
    const calls = await context.cluster.rawCalls();
    if (calls === null) {
      throw new Error(`the generator in Go does not know the calls of ${context.cluster.name}`);
    }
    return new GoLoad(this, calls, context, concurrency, await context.cluster.connect(context.leader));
  }
}

class GoLoad implements Load {
  readonly #workload: GoWorkload;
  readonly #calls: RawCalls;
  readonly #context: WorkloadContext;
  readonly #inFlight: number;
  /** For requests besides the load. */
  readonly #connection: Connection;

  constructor(
    workload: GoWorkload,
    calls: RawCalls,
    context: WorkloadContext,
    inFlight: number,
    connection: Connection,
  ) {
    this.#workload = workload;
    this.#calls = calls;
    this.#context = context;
    this.#inFlight = inFlight;
    this.#connection = connection;
  }

  async run(bounds: Bounds, interrupted: AbortSignal): Promise<LoadResult> {
    const { isPut, program } = this.#workload;
    const before = await this.#revision();
    const startedMs = performance.now();
    const { durationMs, cpuMs, latenciesMs } = await perform(program, this.#order(bounds), interrupted);
    const operations = latenciesMs.length;
    // Some numbers may be taken but unused: keys only have to be new.
    this.#workload.next += operations + this.#inFlight;
    assertGrown(operations, (await this.#revision()) - before, isPut ? BigInt(operations) : 0n);
    return {
      operations,
      durationMs,
      elapsedMs: performance.now() - startedMs,
      timings: [{ name: "latency", valuesMs: latenciesMs }],
      attempts: null,
      generatorCpuMs: cpuMs,
    };
  }

  /** The last key that was put must have the value, and the one that was read must still have it. */
  async verify(): Promise<void> {
    const { value, isPut, next } = this.#workload;
    const key = keyOf(isPut ? next - this.#inFlight - 1 : 0);
    const found = await keysOf(this.#connection).get(key);
    if (!value.equals(found.value)) {
      throw new Error(`${key} does not contain its value (${found.value.length} bytes)`);
    }
  }

  close(): void {
    this.#connection.close();
  }

  async #revision(): Promise<bigint> {
    return (await keysOf(this.#connection).get(keyOf(0))).revision;
  }

  #order({ ms, operations }: Bounds): Order {
    const { isPut, value, next } = this.#workload;
    const key = keyOf(0);
    const { body, ...call } = isPut ? this.#calls.put(key, value) : this.#calls.get(key);
    const bytes = Buffer.from(body);
    return {
      ...call,
      endpoints: this.#context.members.map(({ endpoint }) => endpoint),
      connections: connectionsPerMember(this.#inFlight, this.#context.members.length),
      inFlight: this.#inFlight,
      ms: Math.min(ms, NO_BOUND_MS),
      operations: Number.isFinite(operations) ? operations : 0,
      body: bytes.toString("base64"),
      numberAt: bytes.indexOf(key) + KEY_PREFIX.length,
      digits: DIGITS,
      first: isPut ? next : 0,
      numbers: isPut ? 0 : KEYS_READ,
    };
  }
}

function keyOf(number: number): string {
  return `${KEY_PREFIX}${String(number).padStart(DIGITS, "0")}`;
}

/** Runs the program. Raises an error with its message if it fails, and the reason when interrupted. */
async function perform(program: string, order: Order, interrupted: AbortSignal): Promise<Report> {
  const child = spawn(program, { stdio: ["pipe", "pipe", "pipe"], signal: interrupted });
  child.stdin.end(JSON.stringify(order));
  const ended = once(child, "close");
  const [[code], output, complaint] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  interrupted.throwIfAborted();
  if (code !== 0) {
    throw new Error(`the generator in Go failed: ${complaint.trim()}`);
  }
  return JSON.parse(output) as Report;
}
