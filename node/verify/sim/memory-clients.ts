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
  readMemory,
} from "../../src/state/index.ts";
import { History, type RegionAnswer, type RegionOperation, regionCheck } from "../history/index.ts";
import { isRevocation } from "./access-rules.ts";
import { ClientGroup, type ClientGroupOptions, type ClientOf } from "./client-group.ts";
import type { MemoryPlan } from "./plan.ts";
import type { Process } from "./process.ts";
import type { RandomStream } from "./random.ts";
import { must } from "./rule-violation.ts";

export interface MemoryClientsOptions extends ClientGroupOptions {
  readonly plan: MemoryPlan;
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

type MemoryClient = ClientOf<{ writes: number }>;

type MemoryMutation = Extract<
  ClientOperation,
  { readonly kind: "allocate-memory" | "resize-memory" | "free-memory" | "write-memory" }
>;

const NAMESPACE = "default";
/** Share of the operations before which a client goes to another member. */
const LEAVE_SHARE = 0.15;
/** Sizes and offsets around the edges of pages of 4 KiB and segments of 1 MiB. */
const SMALL_BYTES = [1, 100, 4_095, 4_096, 4_097, 9_000];
const LARGE_BYTES = [4_097, 1_048_575, 1_048_576, 1_048_577, 1_060_000];
/** Largest number of bytes in a write or read. */
const DATA_BYTES_MAX = 6_000;

export class MemoryClients extends ClientGroup<{ writes: number }, MemoryClientsOptions> {
  readonly #history: History<RegionOperation, RegionAnswer>;
  /** The newest last; freed regions stay for a while. */
  #regions: Region[] = [];
  #allocations = 0;

  constructor(options: MemoryClientsOptions) {
    super(options, LEAVE_SHARE);
    this.#history = new History(() => options.heap.nowMs);
  }

  protected override fresh() {
    return { writes: 0 };
  }

  protected override operate(client: MemoryClient): void {
    const process = this.begins(client);
    if (process === null) {
      return;
    }
    const { plan } = this.options;
    const region = client.random.pick(this.#regions);
    const isWanted = this.#regions.length < plan.regions || client.random.chance(0.04);
    if (region === undefined || isWanted) {
      this.#allocate(client, process);
    } else if (client.random.chance(plan.readShare)) {
      this.#read(client, process, region);
    } else {
      this.#change(client, process, region);
    }
  }

  /** Throws a RuleViolation if no correct regions could have given these answers. */
  check(): void {
    const wrong = regionCheck(this.#history.operations);
    must(wrong.length === 0, "history: regions could have answered so", () => wrong.join("\n"));
  }

  #allocate(client: MemoryClient, process: Process): void {
    const { plan } = this.options;
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
    const { guardOf } = this.options;
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
    const { calls, accounts } = this.options;
    const { offset, data } = this.#place(client, region);
    const length = data.length;
    const { name } = region;
    const what = `read ${length} bytes at ${offset} of ${name}`;
    const admission = accounts.beginRead(client.principal, what);
    const open = this.#history.begin(`r${client.id}`, { kind: "read", region: name, offset, length });
    calls.call<CoordinationError | RegionAnswer>(
      process,
      what,
      this.limitMs(client.random),
      (deadlineMs, done) => {
        process.replica.readBarrier(deadlineMs, (error) => {
          done(error ?? admission(process) ?? readAnswer(process, region, offset, length));
        });
      },
      (answer) => {
        if (answer === null || answer instanceof CoordinationError) {
          this.otherFailures += isRevocation(answer) ? 0 : 1;
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
    const request = this.requestCalls.begin(operation, client.principal);
    this.send(client, process, request, (answer) => {
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

  #size(random: RandomStream): number {
    const sizes = this.options.plan.isLarge && random.chance(0.6) ? LARGE_BYTES : SMALL_BYTES;
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
