/**
 * Clients of a simulated cluster that share memory regions. They allocate, write, resize, free and read them around the
 * edges of pages and segments. Their expected versions are right or wrong, and some write under holds of locks that are
 * live or not.
 */

import {
  type ClientOperation,
  CoordinationError,
  type Guard,
  type Outcome,
  type Principal,
  readMemory,
} from "../../src/state/index.ts";
import { History, type RegionAnswer, type RegionOperation, regionCheck } from "../history/index.ts";
import { isRevocation } from "./access-rules.ts";
import type { EventHeap } from "./event-heap.ts";
import type { MemoryPlan } from "./plan.ts";
import type { Process } from "./process.ts";
import { type RandomStream, streamOf } from "./random.ts";
import { type Answer, RequestCalls, type RequestCallsOptions } from "./request-calls.ts";
import type { Request } from "./requests.ts";
import { must } from "./rule-violation.ts";

export interface MemoryClientsOptions extends RequestCallsOptions {
  readonly heap: EventHeap;
  readonly plan: MemoryPlan;
  /** The run has no faults: every call has all the time that it may need. */
  readonly isSteady: boolean;
  /** A request is sent again for this long, in milliseconds, while its answer is stored. */
  readonly retryMs: number;
  /** Running processes. */
  readonly processes: () => readonly Process[];
  /** A hold that a client has or had; undefined if there was none. */
  readonly guardOf: (random: RandomStream) => Guard | undefined;
}

/** A region that a client knows. */
interface Region {
  readonly name: string;
  readonly regionId: Uint8Array;
  /** The size that was seen last. */
  sizeBytes: number;
  version: number;
}

interface MemoryClient {
  readonly id: number;
  readonly principal: Principal;
  /** The stream of the present operation. */
  random: RandomStream;
  home: Process | null;
  isBusy: boolean;
  writes: number;
}

type MemoryMutation = Extract<
  ClientOperation,
  { readonly kind: "allocate-memory" | "resize-memory" | "free-memory" | "write-memory" }
>;

const NAMESPACE = "default";
const CALLS_MAX = 5;
const CALL_MS = [150, 600, 2_000, 5_000];
const AMPLE_MS = 20_000;
const AGAIN_MS = 100;
/** Sizes and offsets around the edges of pages of 4 KiB and segments of 1 MiB. */
const SMALL_BYTES = [1, 100, 4_095, 4_096, 4_097, 9_000];
const LARGE_BYTES = [4_097, 1_048_575, 1_048_576, 1_048_577, 1_060_000];
/** Largest number of bytes in a write or read. */
const DATA_BYTES_MAX = 6_000;

export class MemoryClients {
  readonly #options: MemoryClientsOptions;
  readonly #requestCalls: RequestCalls;
  readonly #history: History<RegionOperation, RegionAnswer>;
  readonly #clients = new Map<number, MemoryClient>();
  /** The newest last; freed regions stay for a while. */
  #regions: Region[] = [];
  #allocations = 0;
  #isStopped = false;
  /** Failed reads. */
  #failures = 0;

  constructor(options: MemoryClientsOptions) {
    this.#options = options;
    this.#requestCalls = new RequestCalls(options);
    this.#history = new History(() => options.heap.nowMs);
  }

  /** Calls that did not end with a result. */
  get failures(): number {
    return this.#failures + this.#requestCalls.failures;
  }

  /** The client must do something now, unless it is busy. */
  act(id: number, draw: number): void {
    const client = this.#clientOf(id);
    if (this.#isStopped || client.isBusy) {
      return;
    }
    client.random = streamOf(draw);
    const process = this.#processFor(client);
    if (process === null) {
      return;
    }
    client.isBusy = true;
    const region = client.random.pick(this.#regions);
    const isWanted = this.#regions.length < this.#options.plan.regions || client.random.chance(0.04);
    if (region === undefined || isWanted) {
      this.#allocate(client, process);
    } else if (client.random.chance(this.#options.plan.readShare)) {
      this.#read(client, process, region);
    } else {
      this.#change(client, process, region);
    }
  }

  /** No operation begins any more. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Throws a RuleViolation if no correct regions could have given these answers. */
  check(): void {
    const wrong = regionCheck(this.#history.operations);
    must(wrong.length === 0, "history: regions could have answered so", () => wrong.join("\n"));
  }

  #clientOf(id: number): MemoryClient {
    const principal = this.#options.accounts.principalOf(id);
    const state = { random: streamOf(id), home: null, isBusy: false, writes: 0 };
    const client = this.#clients.get(id) ?? { id, principal, ...state };
    this.#clients.set(id, client);
    return client;
  }

  #allocate(client: MemoryClient, process: Process): void {
    const { plan } = this.#options;
    this.#allocations++;
    const name = `region-${this.#allocations}`;
    const sizeBytes = this.#size(client.random);
    const operation: MemoryMutation = { kind: "allocate-memory", namespace: NAMESPACE, sizeBytes, label: name };
    this.#mutate(client, process, name, operation, (outcome) => {
      const answer = outcome?.answer;
      if (answer !== undefined && "kind" in answer && answer.kind === "allocate-memory") {
        const { regionId, version } = answer;
        this.#regions = [...this.#regions, { name, regionId, sizeBytes, version }].slice(-plan.regions - 1);
      }
    });
  }

  #change(client: MemoryClient, process: Process, region: Region): void {
    const { guardOf } = this.#options;
    const { random } = client;
    const { regionId, version } = region;
    const isVersioned = random.chance(0.3);
    const guard = random.chance(0.4) ? guardOf(random) : undefined;
    const target = {
      namespace: NAMESPACE,
      regionId,
      expectedVersion: isVersioned ? version : undefined,
      ...(guard === undefined ? {} : { guard }),
    };
    const share = random.next();
    let operation: MemoryMutation;
    if (share < 0.68) {
      client.writes++;
      operation = { kind: "write-memory", ...target, ...this.#place(client, region) };
    } else if (share < 0.94) {
      operation = { kind: "resize-memory", ...target, sizeBytes: this.#size(random) };
    } else {
      operation = { kind: "free-memory", ...target };
    }
    this.#mutate(client, process, region.name, operation, (outcome) => this.#note(region, operation, outcome));
  }

  /** Notes what the clients now know of the region. */
  #note(region: Region, operation: MemoryMutation, outcome: Outcome | null): void {
    const answer = outcome?.answer;
    if (answer === undefined) {
      return;
    }
    if (answer instanceof CoordinationError && answer.reason !== "REGION_NOT_FOUND") {
      return;
    }
    if ("version" in answer) {
      region.version = answer.version;
      region.sizeBytes = operation.kind === "resize-memory" ? operation.sizeBytes : region.sizeBytes;
    } else {
      // The region is gone. Some clients go on looking for it.
      const isKept = region.name.endsWith("3");
      this.#regions = this.#regions.filter((one) => one !== region || isKept);
    }
  }

  #read(client: MemoryClient, process: Process, region: Region): void {
    const { calls, accounts } = this.#options;
    const { offset, data } = this.#place(client, region);
    const length = data.length;
    const { name } = region;
    const what = `read ${length} bytes at ${offset} of ${name}`;
    const admission = accounts.beginRead(client.principal, what);
    const open = this.#history.begin(`r${client.id}`, { kind: "read", region: name, offset, length });
    calls.call<CoordinationError | RegionAnswer>(
      process,
      what,
      this.#limitMs(client.random),
      (deadlineMs, done) => {
        process.replica.readBarrier(deadlineMs, (error) => {
          done(error ?? admission(process) ?? readAnswer(process, region, offset, length));
        });
      },
      (answer) => {
        if (answer === null || answer instanceof CoordinationError) {
          this.#failures += isRevocation(answer) ? 0 : 1;
          client.home = null;
          open.end({ kind: "not-executed" });
        } else {
          if (answer.kind === "read") {
            region.version = answer.version;
            region.sizeBytes = answer.sizeBytes;
          }
          open.end({ kind: "ok", answer });
        }
        client.isBusy = false;
      },
    );
  }

  #mutate(
    client: MemoryClient,
    process: Process,
    name: string,
    operation: MemoryMutation,
    onEnd: (outcome: Outcome | null) => void,
  ): void {
    const open = this.#history.begin(`r${client.id}`, regionOperationOf(name, operation));
    const request = this.#requestCalls.begin(operation, client.principal);
    this.#send(client, process, request, 1, (answer) => {
      const outcome = answer?.outcome ?? null;
      if (outcome !== null && !isRevocation(outcome.answer)) {
        const told = regionAnswerOf(outcome);
        open.end(told === null ? { kind: "not-executed" } : { kind: "ok", answer: told });
      } else {
        open.end({ kind: request.isUncertain ? "unknown" : "not-executed" });
      }
      onEnd(outcome);
      client.isBusy = false;
    });
  }

  /** Sends the request, again if its outcome is not known. */
  #send(
    client: MemoryClient,
    process: Process,
    request: Request,
    calls: number,
    onEnd: (answer: Answer | null) => void,
  ): void {
    const { heap, retryMs } = this.#options;
    this.#requestCalls.send(process, request, this.#limitMs(client.random), (answer) => {
      const isUnknown = answer === null || answer.error?.outcome === "unknown";
      if (answer?.outcome == null) {
        client.home = null;
      }
      if (!isUnknown || heap.nowMs - request.startMs > retryMs || calls >= CALLS_MAX || this.#isStopped) {
        onEnd(answer);
        return;
      }
      heap.after(client.random.exponential(AGAIN_MS), () => {
        const next = this.#processFor(client);
        if (next === null) {
          onEnd(null);
        } else {
          this.#send(client, next, request, calls + 1, onEnd);
        }
      });
    });
  }

  #size(random: RandomStream): number {
    const sizes = this.#options.plan.isLarge && random.chance(0.6) ? LARGE_BYTES : SMALL_BYTES;
    return random.pick(sizes) ?? 1;
  }

  /** Bytes that no other client writes, at an offset that mostly lies within the region. */
  #place({ id, random, writes }: MemoryClient, { sizeBytes }: Region): { offset: number; data: Uint8Array } {
    const edge = random.pick([0, 4_090, 4_096, 1_048_570, sizeBytes - 3, random.below(sizeBytes)]) ?? 0;
    const offset = Math.max(0, Math.min(edge, sizeBytes));
    const most = Math.min(random.chance(0.05) ? DATA_BYTES_MAX : sizeBytes - offset, DATA_BYTES_MAX);
    const length = random.chance(0.2) ? most : random.below(Math.min(most, 40) + 1);
    // They include zeros: trailing zeros are not stored.
    const data = Uint8Array.from({ length }, (_, at) => (at % 7 === 6 ? 0 : 1 + ((id * 31 + writes * 7 + at) % 255)));
    return { offset, data };
  }

  /** Most clients stay with a member while it answers. */
  #processFor(client: MemoryClient): Process | null {
    const { random } = client;
    if (client.home === null || client.home.loop.isDead || random.chance(0.15)) {
      client.home = random.pick(this.#options.processes()) ?? null;
    }
    return client.home;
  }

  #limitMs(random: RandomStream): number {
    return this.#options.isSteady ? AMPLE_MS : (random.pick(CALL_MS) ?? AMPLE_MS);
  }
}

function readAnswer(process: Process, { regionId }: Region, offset: number, length: number): RegionAnswer {
  const { state, revision } = process.replica;
  try {
    const { region, data } = readMemory(state, NAMESPACE, regionId, offset, length);
    const { version, sizeBytes } = region;
    return { kind: "read", data: data.toHex(), version, sizeBytes, revision };
  } catch (error) {
    const answer = error instanceof CoordinationError ? refusedAnswer(error) : null;
    if (answer === null) {
      throw error;
    }
    return answer;
  }
}

function regionOperationOf(region: string, operation: MemoryMutation): RegionOperation {
  switch (operation.kind) {
    case "allocate-memory":
      return { kind: "allocate", region, sizeBytes: operation.sizeBytes };
    case "resize-memory":
      return { kind: "resize", region, sizeBytes: operation.sizeBytes, ...expectation(operation) };
    case "free-memory":
      return { kind: "free", region, ...expectation(operation) };
    case "write-memory":
      return {
        kind: "write",
        region,
        offset: operation.offset,
        data: operation.data.toHex(),
        ...expectation(operation),
      };
  }
}

function expectation({ expectedVersion }: { readonly expectedVersion: number | undefined }) {
  return expectedVersion === undefined ? {} : { expectedVersion };
}

/** Null for a refusal that shows nothing of the region. */
function regionAnswerOf({ answer }: Outcome): RegionAnswer | null {
  if (answer instanceof CoordinationError) {
    return refusedAnswer(answer);
  }
  switch (answer.kind) {
    case "allocate-memory":
      return { kind: "allocated", version: answer.version, revision: answer.revision };
    case "resize-memory": {
      const { version, previousSizeBytes, revision } = answer;
      return { kind: "resized", version, previousSizeBytes, revision };
    }
    case "write-memory":
      return { kind: "written", version: answer.version, revision: answer.revision };
    default:
      return { kind: "freed", revision: answer.revision };
  }
}

function refusedAnswer({ reason }: CoordinationError): RegionAnswer | null {
  switch (reason) {
    case "REGION_NOT_FOUND":
      return { kind: "absent" };
    case "VERSION_MISMATCH":
      return { kind: "version-mismatch" };
    case "MEMORY_BOUNDS":
      return { kind: "out-of-bounds" };
    case "FENCED":
      return { kind: "fenced" };
    default:
      return null;
  }
}
