/**
 * A memory region as a file: reads and writes of any length continue where the last one ended, and `seek` moves the
 * position.
 *
 * A transfer that is too long for one call is divided into several calls, in order. Each call is atomic; all together
 * are not. With `expectedVersion` a write fails if another client writes meanwhile, because the version must then grow
 * by one with each call. A guard on a lock excludes other writers. A read fails if the region changes meanwhile, unless
 * the caller allows that.
 */

import { type GuardedOptions, guardedRules, type ReadOptions, readRules } from "../calls/index.ts";
import { QuoinError } from "../errors/index.ts";
import { badField, bytesField, callback, callRules, flag, optionsCheck, whole } from "../options/index.ts";

/** The most bytes of one call: the limit of the service, 64 KiB less than its largest message. */
const CALL_BYTES_MAX = 4 * 1_024 * 1_024 - 64 * 1_024;

/** Options of a change of a region. */
export interface RegionChangeOptions extends GuardedOptions {
  /** The version that the region must have, else FAILED_PRECONDITION / VERSION_MISMATCH. */
  readonly expectedVersion?: number | undefined;
}

/** The calls that a region makes. */
interface RegionCalls {
  describe(namespace: string, regionId: string): Promise<{ readonly sizeBytes: number }>;
  read(
    namespace: string,
    regionId: string,
    offset: number,
    length: number,
    options: ReadOptions,
  ): Promise<{ readonly data: Uint8Array; readonly version: number }>;
  write(
    namespace: string,
    regionId: string,
    offset: number,
    data: Uint8Array,
    options: RegionChangeOptions,
  ): Promise<{ readonly version: number }>;
}

/** Options of several calls, each with the whole `timeoutMs` and its own request id. */
interface TransferOptions {
  /** Called after each call with the transferred bytes and the total. */
  readonly onProgress?: ((doneBytes: number, totalBytes: number) => void) | undefined;
}

/** Options of a read of any length. */
export interface RegionReadOptions extends Omit<ReadOptions, "requestId">, TransferOptions {
  /** Whether the bytes may have several versions, if others write meanwhile. Default false. */
  readonly mixed?: boolean | undefined;
}

/** Options of a write of any length. */
export interface RegionWriteOptions extends Omit<RegionChangeOptions, "requestId">, TransferOptions {}

/** The origin of a seek. */
export type SeekOrigin = "start" | "current" | "end";

const { requestId: _, ...transferRules } = { ...callRules, onProgress: callback };
const checkRead = optionsCheck<RegionReadOptions>({
  ...transferRules,
  consistency: readRules.consistency,
  mixed: flag,
});
const checkWrite = optionsCheck<RegionWriteOptions>({
  ...transferRules,
  guard: guardedRules.guard,
  expectedVersion: whole,
});

/** One region, and a position in it. Calls that move the position must be made one after the other. */
export class MemoryRegion {
  readonly namespace: string;
  readonly regionId: string;
  readonly #client: RegionCalls;
  #position = 0;

  constructor(client: RegionCalls, namespace: string, regionId: string) {
    this.#client = client;
    this.namespace = namespace;
    this.regionId = regionId;
  }

  /** Offset of the next byte to read or write. */
  get position(): number {
    return this.#position;
  }

  /**
   * Moves the position; from the end, this reads the size of the region.
   *
   * @returns the new position.
   * @throws QuoinError INVALID_ARGUMENT / BAD_FIELD if it is before the start.
   */
  async seek(offset: number, from: SeekOrigin = "start"): Promise<number> {
    const base = from === "start" ? 0 : from === "current" ? this.#position : await this.size();
    const position = base + offset;
    if (!Number.isSafeInteger(position) || position < 0) {
      throw badField("offset", `leads to ${position}`);
    }
    this.#position = position;
    return position;
  }

  /** Size of the region in bytes. */
  async size(): Promise<number> {
    return (await this.#client.describe(this.namespace, this.regionId)).sizeBytes;
  }

  /**
   * Reads from the position on, and moves it to the end of the read bytes.
   *
   * @throws QuoinError like readAt; the position stays.
   */
  async read(length: number, options: RegionReadOptions = {}): Promise<Uint8Array> {
    const bytes = await this.readAt(this.#position, length, options);
    this.#position += length;
    return bytes;
  }

  /**
   * Writes from the position on, and moves it to the end of the written bytes.
   *
   * @returns the version of the region.
   * @throws QuoinError like writeAt; the position stays.
   */
  async write(data: string | Uint8Array, options: RegionWriteOptions = {}): Promise<number> {
    const bytes = bytesField("data", data);
    const version = await this.writeAt(this.#position, bytes, options);
    this.#position += bytes.length;
    return version;
  }

  /**
   * Reads bytes from an offset on; the position stays.
   *
   * @throws QuoinError like MemoryClient.read; ABORTED / VERSION_MISMATCH if the region changed meanwhile.
   */
  async readAt(offset: number, length: number, options: RegionReadOptions = {}): Promise<Uint8Array> {
    checkRead(options, "readAt");
    if (!Number.isSafeInteger(length) || length < 0) {
      throw badField("length", `must be a count of bytes, not ${length}`);
    }
    const { onProgress, mixed = false, ...call } = options;
    const first = await this.#client.read(
      this.namespace,
      this.regionId,
      offset,
      Math.min(length, CALL_BYTES_MAX),
      call,
    );
    if (first.data.length === length) {
      onProgress?.(length, length);
      return first.data;
    }
    const bytes = new Uint8Array(length);
    let part = first;
    for (let done = 0; ; ) {
      if (part.version !== first.version && !mixed) {
        throw changedMeanwhile(this.regionId, first.version, part.version);
      }
      bytes.set(part.data, done);
      done += part.data.length;
      onProgress?.(done, length);
      if (done === length) {
        return bytes;
      }
      const left = Math.min(length - done, CALL_BYTES_MAX);
      part = await this.#client.read(this.namespace, this.regionId, offset + done, left, call);
    }
  }

  /**
   * Writes bytes from an offset on; the position stays. If one of several calls fails, the calls before it have
   * written.
   *
   * @returns the version of the region.
   * @throws QuoinError like MemoryClient.write.
   */
  async writeAt(offset: number, data: string | Uint8Array, options: RegionWriteOptions = {}): Promise<number> {
    checkWrite(options, "writeAt");
    const { onProgress, expectedVersion, ...call } = options;
    const bytes = bytesField("data", data);
    let version = expectedVersion;
    for (let done = 0; ; ) {
      const part = bytes.subarray(done, done + CALL_BYTES_MAX);
      const conditions = { ...call, expectedVersion: expectedVersion === undefined ? undefined : version };
      const written = await this.#client.write(this.namespace, this.regionId, offset + done, part, conditions);
      version = written.version;
      done += part.length;
      onProgress?.(done, bytes.length);
      if (done === bytes.length) {
        return version;
      }
    }
  }
}

function changedMeanwhile(regionId: string, before: number, after: number): QuoinError {
  return new QuoinError({
    code: "ABORTED",
    reason: "VERSION_MISMATCH",
    message: `region ${regionId} was changed while it was read: its version was ${before} and is ${after}`,
  });
}
