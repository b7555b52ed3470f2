/** Commands about memory regions: client operations, and the step by which the cluster erases pages. */

import { invariant } from "../../primitives/index.ts";
import {
  REGION_ID_BYTES,
  type RecordReader,
  type RecordWriter,
  readOptionalCount,
  writeOptionalCount,
} from "../core/index.ts";
import { type Guard, guarded, readGuard, writeGuard } from "../locks/index.ts";

export interface AllocateMemory {
  readonly kind: "allocate-memory";
  readonly namespace: string;
  /** At least 1. */
  readonly sizeBytes: number;
  /** For people; may be empty. */
  readonly label: string;
}

/** Fields of every mutation of a region. */
export interface RegionMutation {
  readonly namespace: string;
  /** 16 bytes. */
  readonly regionId: Uint8Array;
  /** The version that the region must have; undefined = any. */
  readonly expectedVersion: number | undefined;
  /** The hold that must be live, if any. */
  readonly guard?: Guard;
}

export interface ResizeMemory extends RegionMutation {
  readonly kind: "resize-memory";
  /** At least 1. */
  readonly sizeBytes: number;
}

export interface FreeMemory extends RegionMutation {
  readonly kind: "free-memory";
}

export interface WriteMemory extends RegionMutation {
  readonly kind: "write-memory";
  /** First byte to overwrite. */
  readonly offset: number;
  readonly data: Uint8Array;
}

export type MemoryOperation = AllocateMemory | ResizeMemory | FreeMemory | WriteMemory;

/** Erases pages of freed and shrunk regions: at most this many rows. */
export interface EraseMemory {
  readonly kind: "erase-memory";
  readonly rowsMax: number;
}

export const MEMORY_KINDS = {
  "allocate-memory": 30,
  "resize-memory": 31,
  "free-memory": 32,
  "write-memory": 33,
} as const;

export function encodeMemoryOperation(writer: RecordWriter, operation: MemoryOperation): void {
  writer.text(operation.namespace);
  switch (operation.kind) {
    case "allocate-memory":
      writer.uint53(operation.sizeBytes).text(operation.label);
      return;
    case "resize-memory":
      writeMutation(writer, operation);
      writer.uint53(operation.sizeBytes);
      return;
    case "free-memory":
      writeMutation(writer, operation);
      return;
    case "write-memory":
      writeMutation(writer, operation);
      writer.uint53(operation.offset).bytes(operation.data);
      return;
  }
}

/** The operation of this kind; raises an InvariantViolation for a kind that is not about memory. */
export function decodeMemoryOperation(kind: number, reader: RecordReader): MemoryOperation {
  const namespace = reader.name();
  switch (kind) {
    case MEMORY_KINDS["allocate-memory"]:
      return { kind: "allocate-memory", namespace, sizeBytes: reader.uint53(), label: reader.text() };
    case MEMORY_KINDS["resize-memory"]:
      return { kind: "resize-memory", namespace, ...readMutation(reader), sizeBytes: reader.uint53() };
    case MEMORY_KINDS["free-memory"]:
      return { kind: "free-memory", namespace, ...readMutation(reader) };
    case MEMORY_KINDS["write-memory"]:
      return {
        kind: "write-memory",
        namespace,
        ...readMutation(reader),
        offset: reader.uint53(),
        data: reader.bytes(),
      };
    default:
      invariant(false, "commands have a known kind", () => String(kind));
  }
}

function writeMutation(writer: RecordWriter, mutation: RegionMutation): void {
  writer.fixed(mutation.regionId, REGION_ID_BYTES);
  writeOptionalCount(writer, mutation.expectedVersion);
  writeGuard(writer, mutation.guard);
}

function readMutation(reader: RecordReader): Omit<RegionMutation, "namespace"> {
  const mutation = { regionId: reader.fixed(REGION_ID_BYTES), expectedVersion: readOptionalCount(reader) };
  return guarded(mutation, readGuard(reader));
}
