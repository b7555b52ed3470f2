/**
 * The payloads of an append, packed: all bytes in one block, and the offset of each payload.
 *
 * A batch may have a million events of a few bytes. An object for each would cost more than the rest of the append. So
 * commands, rows and requests use this form, and make a view of a payload only to read it. Several Payloads may share a
 * block: no code changes the bytes.
 */

import { invariant } from "../../primitives/index.ts";
import { allAtOnce, type RecordReader, type RecordWriter, STEP_ITEMS, type Steps } from "../core/index.ts";
import type { PositionRuns } from "./position-runs.ts";

/** Up to this many bytes, a loop copies faster than a call. */
const SHORT_BYTES = 64;
/** The most bytes of a length as a varint. */
const LENGTH_BYTES_MAX = 5;
const VARINT_BITS = 7;
const VARINT_MORE = 0x80;

export class Payloads {
  readonly bytes: Uint8Array;
  /** The offset of each payload in the bytes, then the end of the last one: one number more than payloads. */
  readonly offsets: Uint32Array;

  /** Uses both without a copy. Offsets never decrease, and end within the bytes. */
  constructor(bytes: Uint8Array, offsets: Uint32Array) {
    this.bytes = bytes;
    this.offsets = offsets;
  }

  static of(payloads: readonly Uint8Array[]): Payloads {
    const offsets = new Uint32Array(payloads.length + 1);
    for (const [at, { length }] of payloads.entries()) {
      offsets[at + 1] = (offsets[at] as number) + length;
    }
    const bytes = new Uint8Array(offsets.at(-1) as number);
    for (const [at, payload] of payloads.entries()) {
      bytes.set(payload, offsets[at]);
    }
    return new Payloads(bytes, offsets);
  }

  get count(): number {
    return this.offsets.length - 1;
  }

  /** Bytes of all payloads together. */
  get byteCount(): number {
    return this.#offset(this.count) - this.#offset(0);
  }

  lengthOf(position: number): number {
    return this.#offset(position + 1) - this.#offset(position);
  }

  /** Bytes of the payloads from one position up to, not including, another. */
  bytesOf(from: number, to: number): number {
    return this.#offset(to) - this.#offset(from);
  }

  /** The payload at a position: a view, not a copy. */
  at(position: number): Uint8Array {
    return this.bytes.subarray(this.#offset(position), this.#offset(position + 1));
  }

  *[Symbol.iterator](): Generator<Uint8Array> {
    for (let position = 0; position < this.count; position++) {
      yield this.at(position);
    }
  }

  /** The payloads from one position up to, not including, another: views, not copies. */
  slice(from: number, to: number = this.count): Payloads {
    return new Payloads(this.bytes, this.offsets.subarray(from, to + 1));
  }

  /** The payloads of these runs, in this order: a view for one run, else a copy. */
  pick(runs: PositionRuns): Payloads {
    if (runs.length === 1) {
      return this.slice(runs.positionOf(0), runs.positionOf(0) + runs.countOf(0));
    }
    let [count, byteCount] = [0, 0];
    for (let run = 0; run < runs.length; run++) {
      const position = runs.positionOf(run);
      count += runs.countOf(run);
      byteCount += this.bytesOf(position, position + runs.countOf(run));
    }
    const bytes = new Uint8Array(byteCount);
    const offsets = new Uint32Array(count + 1);
    let [at, end] = [0, 0];
    for (let run = 0; run < runs.length; run++) {
      const first = runs.positionOf(run);
      const behind = first + runs.countOf(run);
      const begin = this.#offset(first);
      copyBytes(this.bytes, begin, this.#offset(behind), bytes, end);
      for (let position = first; position < behind; position++) {
        offsets[++at] = end + this.#offset(position + 1) - begin;
      }
      end = offsets[at] as number;
    }
    return new Payloads(bytes, offsets);
  }

  /** Writes the count, the lengths as varints (one byte for a length below 128), and the bytes. */
  write(writer: RecordWriter): void {
    const { count, offsets } = this;
    const lengths = new Uint8Array(count * LENGTH_BYTES_MAX);
    let end = 0;
    let begin = offsets[0] as number;
    for (let position = 1; position <= count; position++) {
      const next = offsets[position] as number;
      let length = next - begin;
      begin = next;
      while (length >= VARINT_MORE) {
        lengths[end++] = (length & (VARINT_MORE - 1)) | VARINT_MORE;
        length >>>= VARINT_BITS;
      }
      lengths[end++] = length;
    }
    writer.uint32(count).bytes(lengths.subarray(0, end));
    writer.bytes(this.bytes.subarray(this.#offset(0), this.#offset(count)));
  }

  /** Reads the form of `write`: views, not copies. */
  static read(reader: RecordReader): Payloads {
    return allAtOnce(Payloads.readInSteps(reader));
  }

  /** The same, in steps. */
  static *readInSteps(reader: RecordReader): Steps<Payloads> {
    const reading = new OffsetReading(reader.uint32(), reader.bytes());
    const bytes = reader.bytes();
    while (reading.advance(STEP_ITEMS)) {
      yield;
    }
    return new Payloads(bytes, reading.finish(bytes.length));
  }

  #offset(position: number): number {
    return this.offsets[position] as number;
  }
}

/** Turns lengths into offsets. */
class OffsetReading {
  readonly #lengths: Uint8Array;
  readonly #offsets: Uint32Array;
  #position = 0;
  #at = 0;
  #end = 0;

  constructor(count: number, lengths: Uint8Array) {
    // Check before allocating: a damaged count can be any number.
    invariant(count <= lengths.length, "payloads have lengths", () => `${count} in ${lengths.length} bytes`);
    this.#lengths = lengths;
    this.#offsets = new Uint32Array(count + 1);
  }

  /** Reads at most this many more lengths; returns whether there are more. */
  advance(countMax: number): boolean {
    const lengths = this.#lengths;
    const offsets = this.#offsets;
    const to = Math.min(this.#position + countMax, offsets.length - 1);
    let [at, end] = [this.#at, this.#end];
    for (let position = this.#position + 1; position <= to; position++) {
      let byte = lengths[at++] as number;
      end += byte & (VARINT_MORE - 1);
      for (let factor = VARINT_MORE; byte >= VARINT_MORE; factor *= VARINT_MORE) {
        byte = lengths[at++] as number;
        end += (byte & (VARINT_MORE - 1)) * factor;
      }
      offsets[position] = end;
    }
    this.#position = to;
    this.#at = at;
    this.#end = end;
    return to < offsets.length - 1;
  }

  finish(byteCount: number): Uint32Array {
    const isWhole = this.#at === this.#lengths.length && this.#end === byteCount;
    invariant(isWhole, "payloads are as long as they say", () => `${this.#end} bytes of ${byteCount}`);
    return this.#offsets;
  }
}

/** Copies bytes from one block to a position in another. */
export function copyBytes(source: Uint8Array, from: number, to: number, target: Uint8Array, place: number): void {
  if (to - from > SHORT_BYTES) {
    target.set(source.subarray(from, to), place);
    return;
  }
  for (let at = from; at < to; at++) {
    target[place + at - from] = source[at] as number;
  }
}
