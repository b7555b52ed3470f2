/**
 * Clients that write, read and resize memory regions across page borders, also beyond the end and with old versions.
 * They free a region and continue with another one.
 */

import { randomBytes } from "node:crypto";
import type { Client } from "@quoin/client";
import {
  AllocateMemoryRequest,
  FreeMemoryRequest,
  ReadMemoryRequest,
  ResizeMemoryRequest,
  serviceDefinitions,
  WriteMemoryRequest,
} from "@quoin/proto";
import type { ClusterUnderTest } from "../../test/harness/index.ts";
import { History, type RegionAnswer, type RegionOperation, type RegionRecord, regionCheck } from "../history/index.ts";
import { BackgroundLoad } from "./background-load.ts";
import { type AskOptions, type CallResult, MemberCalls } from "./member-calls.ts";

const { MemoryService } = serviceDefinitions;
const CLIENTS = 3;
/** Regions that are used at a time. */
const REGIONS = 2;
const REST_MS = 40;
const NAMESPACE = "default";
/** A few pages, the last one incomplete. */
const PAGE_BYTES = 4_096;
const SIZE_BYTES_MAX = 3 * PAGE_BYTES - 100;
/** Shorter than a page, and long enough to cross a page border sometimes. */
const DATA_BYTES_MAX = 300;
/** Maximum operations on one region, of all outcomes and of unknown outcome, so that it stays easy to judge. */
const OPERATIONS_MAX = 400;
const UNKNOWN_MAX = 6;
/**
 * Options of one operation in three, so that some outcomes stay unknown; the others retry until the outcome is known.
 */
const ONCE: AskOptions = { triesMax: 1 };
const LAST_READ: AskOptions = { timeoutMs: 5_000, triesMax: 6 };

interface RegionInUse {
  /** Its name in the history. */
  readonly name: string;
  readonly id: string;
  operations: number;
  unknown: number;
  /** Size and version from the last answer that contained them. */
  sizeBytes: number;
  version: number;
}

export class RegionLoad extends BackgroundLoad {
  readonly #calls: MemberCalls;
  readonly #random: (bound: number) => number;
  readonly #history = new History<RegionOperation, RegionAnswer>(() => performance.now());
  /** Regions in use; the others were freed, or a free was requested. */
  readonly #regions: RegionInUse[] = [];
  #names = 0;

  constructor(cluster: ClusterUnderTest, timeoutMs: number, random: (bound: number) => number) {
    super(cluster, { name: "region", clients: CLIENTS, timeoutMs, restMs: REST_MS });
    this.#random = random;
    this.#calls = new MemberCalls(cluster, random);
  }

  get records(): readonly RegionRecord[] {
    return this.#history.operations;
  }

  /** Reads each region in use completely. All members must serve again. Rejects if one cannot be read. */
  async readAll(): Promise<void> {
    for (const region of this.#regions) {
      const asked = await this.#read("last-reader", region, 0, 0, LAST_READ);
      if (asked?.kind !== "read") {
        throw new Error(`${region.name} cannot be read`);
      }
      await this.#read("last-reader", region, 0, asked.sizeBytes, LAST_READ);
    }
  }

  /** Closes the connections. */
  close(): void {
    this.#calls.close();
  }

  /** Descriptions of contradictions in the history. */
  judge(): readonly string[] {
    return regionCheck(this.records);
  }

  /** Results of the load, in words. */
  describe(): readonly string[] {
    const counts = new Map<RegionAnswer["kind"], number>();
    for (const { outcome } of this.records) {
      const kind = outcome.kind === "ok" ? outcome.answer.kind : null;
      if (kind !== null) {
        counts.set(kind, (counts.get(kind) ?? 0) + 1);
      }
    }
    return [`regions: ${[...counts].map(([kind, count]) => `${kind} ${count}`).join("  ")}`];
  }

  protected override async turn(_client: Client, name: string): Promise<void> {
    const region = this.#regions[this.#random(REGIONS)];
    if (region === undefined) {
      await this.#allocate(name);
      return;
    }
    if (region.operations >= OPERATIONS_MAX || region.unknown >= UNKNOWN_MAX) {
      await this.#free(name, region);
      return;
    }
    const length = this.#random(DATA_BYTES_MAX);
    const options = this.#random(3) === 0 ? ONCE : {};
    const dice = this.#random(100);
    if (dice < 45) {
      await this.#write(name, region, length, options);
    } else if (dice < 92) {
      await this.#read(name, region, this.#offset(region), length, options);
    } else {
      await this.#resize(name, region, options);
    }
  }

  async #allocate(name: string): Promise<void> {
    const sizeBytes = 1 + this.#random(SIZE_BYTES_MAX);
    // If the id is never returned, no client uses the region.
    const region = { name: `region-${this.#names++}`, operations: 0, unknown: 0, sizeBytes, version: 0 };
    let id = "";
    await this.#record(name, region, { kind: "allocate", region: region.name, sizeBytes }, async () => {
      const request = AllocateMemoryRequest.fromPartial({ namespace: NAMESPACE, sizeBytes: BigInt(sizeBytes) });
      const asked = await this.#calls.ask(MemoryService.allocateMemory, request);
      return answered(asked, ({ regionId, version, revision }) => {
        id = regionId;
        return { kind: "allocated", version: Number(version), revision: Number(revision) };
      });
    });
    if (id !== "" && this.#regions.length < REGIONS) {
      this.#regions.push({ ...region, id });
    }
  }

  /** Frees the region, whatever the outcome, and reads it once more. Clients then continue with another one. */
  async #free(name: string, region: RegionInUse): Promise<void> {
    const at = this.#regions.indexOf(region);
    if (at < 0) {
      return;
    }
    this.#regions.splice(at, 1);
    const request = FreeMemoryRequest.fromPartial({ namespace: NAMESPACE, regionId: region.id });
    await this.#record(name, region, { kind: "free", region: region.name }, async () => {
      const asked = await this.#calls.ask(MemoryService.freeMemory, request);
      return answered(asked, ({ revision }) => ({ kind: "freed", revision: Number(revision) }));
    });
    await this.#read(name, region, 0, 1, {});
  }

  async #write(name: string, region: RegionInUse, length: number, options: AskOptions): Promise<void> {
    const offset = this.#offset(region);
    const data = randomBytes(length);
    // One in four compares the version, which others may have raised meanwhile.
    const expected = this.#random(4) === 0 ? { expectedVersion: region.version } : {};
    const operation: RegionOperation = {
      kind: "write",
      region: region.name,
      offset,
      data: data.toString("hex"),
      ...expected,
    };
    const expectedVersion = operation.expectedVersion === undefined ? undefined : BigInt(operation.expectedVersion);
    const request = WriteMemoryRequest.fromPartial({
      namespace: NAMESPACE,
      regionId: region.id,
      offset: BigInt(offset),
      data,
      expectedVersion,
    });
    await this.#record(name, region, operation, async () => {
      const asked = await this.#calls.ask(MemoryService.writeMemory, request, options);
      return answered(asked, ({ version, revision }) => {
        return { kind: "written", version: Number(version), revision: Number(revision) };
      });
    });
  }

  async #resize(name: string, region: RegionInUse, options: AskOptions): Promise<void> {
    const sizeBytes = 1 + this.#random(SIZE_BYTES_MAX);
    const fields = { namespace: NAMESPACE, regionId: region.id, sizeBytes: BigInt(sizeBytes) };
    await this.#record(name, region, { kind: "resize", region: region.name, sizeBytes }, async () => {
      const asked = await this.#calls.ask(MemoryService.resizeMemory, ResizeMemoryRequest.fromPartial(fields), options);
      return answered(asked, ({ previousSizeBytes, version, revision }) => {
        const told = { version: Number(version), revision: Number(revision) };
        return { kind: "resized", previousSizeBytes: Number(previousSizeBytes), ...told };
      });
    });
  }

  #read(name: string, region: RegionInUse, offset: number, length: number, options: AskOptions) {
    const range = { offset: BigInt(offset), length: BigInt(length) };
    const request = ReadMemoryRequest.fromPartial({ namespace: NAMESPACE, regionId: region.id, ...range });
    return this.#record(name, region, { kind: "read", region: region.name, offset, length }, async () => {
      const asked = await this.#calls.ask(MemoryService.readMemory, request, options);
      return answered(asked, ({ data, version, sizeBytes, revision }) => {
        const told = { version: Number(version), sizeBytes: Number(sizeBytes), revision: Number(revision) };
        return { kind: "read", data: Buffer.from(data).toString("hex"), ...told };
      });
    });
  }

  /** A random offset, often near a page border, and sometimes so near the end that the range exceeds the region. */
  #offset({ sizeBytes }: RegionInUse): number {
    if (this.#random(2) === 0) {
      const border = PAGE_BYTES * this.#random(Math.ceil(SIZE_BYTES_MAX / PAGE_BYTES));
      return Math.max(0, border - this.#random(DATA_BYTES_MAX));
    }
    return this.#random(sizeBytes + 1);
  }

  /** Performs and records the operation. Returns the answer; null if it is not known. */
  async #record(
    name: string,
    region: Omit<RegionInUse, "id">,
    operation: RegionOperation,
    ask: () => Promise<CallResult<RegionAnswer>>,
  ): Promise<RegionAnswer | null> {
    const open = this.#history.begin(name, operation);
    region.operations++;
    const asked = await ask();
    if (asked.kind === "ok") {
      open.end({ kind: "ok", answer: asked.response });
      learn(region, operation, asked.response);
      return asked.response;
    }
    // A read has no effect, so without an answer it counts as not executed.
    const isUnknown = asked.kind === "unknown" && operation.kind !== "read";
    open.end({ kind: isUnknown ? "unknown" : "not-executed" });
    region.unknown += Number(isUnknown);
    return null;
  }
}

function learn(region: Omit<RegionInUse, "id">, operation: RegionOperation, answer: RegionAnswer): void {
  if ("version" in answer) {
    region.version = answer.version;
  }
  if (answer.kind === "resized" && operation.kind === "resize") {
    region.sizeBytes = operation.sizeBytes;
  } else if (answer.kind === "read") {
    region.sizeBytes = answer.sizeBytes;
  }
}

/** A refusal that was decided during execution counts as an answer. */
function answered<Response>(
  asked: CallResult<Response>,
  answerOf: (response: Response) => RegionAnswer,
): CallResult<RegionAnswer> {
  switch (asked.kind) {
    case "ok":
      return { ...asked, response: answerOf(asked.response) };
    case "refused":
      return { kind: "ok", response: refusalOf(asked.reason), isRepeated: false };
    default:
      return asked;
  }
}

function refusalOf(reason: string): RegionAnswer {
  switch (reason) {
    case "MEMORY_BOUNDS":
      return { kind: "out-of-bounds" };
    case "VERSION_MISMATCH":
      return { kind: "version-mismatch" };
    case "REGION_NOT_FOUND":
      return { kind: "absent" };
    default:
      throw new Error(`a region was refused because of ${reason}`);
  }
}
