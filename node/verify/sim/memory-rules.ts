/**
 * The rules of memory regions: a model in byte arrays follows the log. Every region is compared with it after each
 * command that may have touched the region.
 */

import {
  type ClientOperation,
  CoordinationError,
  listMemory,
  type CoordinationError as Refusal,
  type Result,
  readMemory,
  type StateReader,
} from "../../src/state/index.ts";
import type { ExecutedCommand, ExecutionObserver } from "./live-execution.ts";
import { must } from "./rule-violation.ts";
import { type Executed, executedIn, firstAnswerOf } from "./transacted.ts";

interface Region {
  readonly regionId: Uint8Array;
  bytes: Uint8Array;
  version: number;
}

type MemoryOperation = Extract<
  ClientOperation,
  { readonly kind: "allocate-memory" | "resize-memory" | "free-memory" | "write-memory" }
>;

/** All regions of a run are here. */
const NAMESPACE = "default";
const REGIONS_MAX = 1_000;

export class MemoryRules implements ExecutionObserver {
  /** By ids in hexadecimal digits. */
  readonly #regions = new Map<string, Region>();
  /** Ids of all regions that ever existed. */
  readonly #ids = new Set<string>();
  #changes = 0;
  #erasures = 0;

  /** Changes of regions, and steps that erased pages. */
  get changes(): number {
    return this.#changes;
  }

  get erasures(): number {
    return this.#erasures;
  }

  after(executed: ExecutedCommand, state: StateReader): void {
    const { index, command, outcome } = executed;
    const { operation } = command;
    if (operation.kind === "erase-memory") {
      this.#erasures++;
      for (const region of this.#regions.values()) {
        checkBytes(region, state, index, "S32 erasing touches nothing that is there");
      }
      return;
    }
    if (operation.kind === "transact") {
      this.#transact(index, executedIn(operation, firstAnswerOf(outcome)), state);
      return;
    }
    if (!isMemory(operation) || outcome === null || outcome.replayed !== "no") {
      return;
    }
    if (outcome.answer instanceof CoordinationError) {
      this.#checkRefusal(index, operation, outcome.answer);
      return;
    }
    this.#changes++;
    const region = this.#change(index, operation, outcome.answer);
    if (region !== null) {
      checkBytes(region, state, index, "S32 a region is what was written into it, and zeros");
    }
    const { regions } = listMemory(state, NAMESPACE, undefined, REGIONS_MAX);
    const ids = regions.map(({ regionId }) => regionId.toHex());
    must(ids.join() === [...this.#regions.keys()].sort().join(), "regions are there from allocating to freeing", () => {
      return `entry ${index}: ${ids.join()}`;
    });
  }

  /** Writes of a transaction, which happen together. */
  #transact(index: number, executed: readonly Executed[], state: StateReader): void {
    const regions = new Set<Region>();
    for (const { operation, answer } of executed) {
      if (operation.kind === "write-memory" && answer !== null && !(answer instanceof CoordinationError)) {
        this.#changes++;
        regions.add(this.#change(index, operation, answer) as Region);
      }
    }
    for (const region of regions) {
      checkBytes(region, state, index, "S32 a region is what was written into it, and zeros");
    }
  }

  /** The region after the change; null if it is gone. */
  #change(index: number, operation: MemoryOperation, answer: Result): Region | null {
    const what = (): string => `entry ${index}: ${operation.kind}, ${JSON.stringify(answer)}`;
    if (operation.kind === "allocate-memory") {
      const regionId = answer.kind === "allocate-memory" ? answer.regionId : new Uint8Array();
      const id = regionId.toHex();
      must(!this.#ids.has(id), "no region has the id of another", what);
      this.#ids.add(id);
      const region = { regionId, bytes: new Uint8Array(operation.sizeBytes), version: 1 };
      this.#regions.set(id, region);
      return region;
    }
    const id = operation.regionId.toHex();
    const region = this.#regions.get(id);
    must(region !== undefined, "a region that was freed is gone for good", what);
    const { expectedVersion } = operation;
    const isExpected = expectedVersion === undefined || expectedVersion === region.version;
    must(isExpected, "a region changes only if it has the expected version", what);
    if (operation.kind === "free-memory") {
      this.#regions.delete(id);
      return null;
    }
    region.version++;
    must("version" in answer && answer.version === region.version, "a version counts each change of a region", what);
    if (operation.kind === "resize-memory") {
      const bytes = new Uint8Array(operation.sizeBytes);
      bytes.set(region.bytes.subarray(0, operation.sizeBytes));
      region.bytes = bytes;
    } else {
      const { offset, data } = operation;
      must(offset + data.length <= region.bytes.length, "S31 nothing is written outside of a region", what);
      region.bytes.set(data, offset);
    }
    return region;
  }

  #checkRefusal(index: number, operation: MemoryOperation, { reason }: Refusal): void {
    if (operation.kind === "allocate-memory") {
      return;
    }
    const region = this.#regions.get(operation.regionId.toHex());
    const what = (): string => `entry ${index}: ${operation.kind} was refused: ${reason}`;
    const isOther = operation.expectedVersion !== undefined && operation.expectedVersion !== region?.version;
    const isOutside =
      operation.kind === "write-memory" && operation.offset + operation.data.length > (region?.bytes.length ?? 0);
    must(reason !== "REGION_NOT_FOUND" || region === undefined, "a region is there until it is freed", what);
    must(reason !== "VERSION_MISMATCH" || isOther, "a region has the version that was counted", what);
    must(reason !== "MEMORY_BOUNDS" || isOutside, "S31 what lies within a region is written", what);
  }
}

function isMemory(operation: { readonly kind: string }): operation is MemoryOperation {
  return ["allocate-memory", "resize-memory", "free-memory", "write-memory"].includes(operation.kind);
}

function checkBytes({ regionId, bytes, version }: Region, state: StateReader, index: number, rule: string): void {
  const { region, data } = readMemory(state, NAMESPACE, regionId, 0, bytes.length);
  const at = Buffer.compare(data, bytes) === 0 ? -1 : data.findIndex((byte, offset) => byte !== bytes[offset]);
  must(at === -1, rule, () => `entry ${index}: byte ${at} is ${data[at]}, not ${bytes[at]}`);
  const isSame = region.version === version && region.sizeBytes === bytes.length;
  must(isSame, rule, () => `entry ${index}: version ${region.version} of ${region.sizeBytes} bytes, not ${version}`);
}
