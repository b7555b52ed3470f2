/**
 * Commands: the form of a mutation that is proposed. No later step reads the API message.
 *
 * A client's command carries the caller (apply checks it again), the request id, and the hash of the request, which
 * together identify a retry. Some operations may lack the id: a retry then runs again unless the operation itself
 * recognises it. Commands that the cluster proposes itself carry neither.
 */

import { InvariantViolation, invariant } from "../primitives/index.ts";
import { ENTRY_BYTES_MAX, ENTRY_HEADER_BYTES } from "../raft/index.ts";
import {
  HASH_BYTES,
  type Principal,
  REQUEST_ID_BYTES,
  RecordReader,
  RecordWriter,
  type RequestIdentity,
  readPrincipal,
  requestIdentity,
  type Steps,
  writePrincipal,
} from "./core/index.ts";
import { type AnyOperation, type ClientOperation, type ClusterOperation, kindOf, kindOfNumber } from "./operations.ts";

export interface ClientCommand {
  readonly principal: Principal;
  /** Null only for an operation that may lack an id; its answer is not stored. */
  readonly request: RequestIdentity | null;
  readonly operation: ClientOperation;
}

/** The same before its hash is known; the hash follows from the operation. */
export interface ClientRequest extends Omit<ClientCommand, "request"> {
  readonly request: Pick<RequestIdentity, "requestId"> | null;
}

/** `principal` and `request` are null for commands that the cluster proposes itself. */
export type Command =
  | ClientCommand
  | { readonly principal: null; readonly request: null; readonly operation: ClusterOperation };

const FORMAT = 1;
/** Of an operation that may lack an id, with one. Members of cluster version 6 do not know it. */
const FORMAT_WITH_REQUEST = 2;
/** Where the number of the kind stands in a command: after the format. */
const KIND_OFFSET = 1;
const NO_HASH = new Uint8Array(HASH_BYTES - 1);

/** Size of the largest command that fits into an entry, in bytes. */
export const COMMAND_BYTES_MAX = ENTRY_BYTES_MAX - ENTRY_HEADER_BYTES;

/** Whether the command may make the state larger. Members refuse such commands while the disk is nearly full (P45). */
export function isGrowing({ operation }: Command): boolean {
  return kindOf(operation as AnyOperation).grows(operation as never);
}

/** The command as bytes, for the payload of an entry. */
export function encodeCommand({ principal, request, operation }: Command): Uint8Array {
  const kind = kindOf(operation as AnyOperation);
  const writer = new RecordWriter().uint8(formatOf(kind, request !== null)).uint8(kind.number);
  if (principal !== null) {
    writePrincipal(writer, principal);
  }
  if (request !== null) {
    requestIdentity.write(writer, request);
  }
  kind.field.write(writer, operation as never);
  return writer.finish();
}

/**
 * Encodes the request as its command, with the hash that identifies its retries; null if it has no id. The hash covers
 * the kind and the fields of the operation in the encoding of the command. That encoding is unique and leaves out the
 * caller, the request id, and the form of the message. So the operation is encoded once and hashed in place. If its
 * member made something for it, such as a salt, it is hashed without that.
 *
 * @param sha256 returns the 32 bytes of the SHA-256 of its argument.
 */
export function encodeRequest(
  { principal, request, operation }: ClientRequest,
  sha256: (bytes: Uint8Array) => Uint8Array,
): { readonly payload: Uint8Array; readonly request: RequestIdentity | null } {
  if (request === null) {
    return { payload: encodeCommand({ principal, request, operation }), request };
  }
  const { requestId } = request;
  const kind = kindOf(operation);
  const { number, field } = kind;
  const writer = new RecordWriter().uint8(formatOf(kind, true)).uint8(number);
  writePrincipal(writer, principal);
  writer.fixed(requestId, REQUEST_ID_BYTES);
  const hashOffset = writer.length;
  // While the hash is computed, its place holds the kind.
  writer.fixed(NO_HASH, HASH_BYTES - 1).uint8(number);
  field.write(writer, operation);
  const payload = writer.finish();
  const asked = kind.asked(operation);
  const hashed = asked === operation ? payload.subarray(hashOffset) : askedBytes(number, field, asked);
  const payloadHash = sha256(hashed);
  invariant(payloadHash.length === HASH_BYTES, "a SHA-256 has 32 bytes");
  payload.set(payloadHash, hashOffset);
  return { payload, request: { requestId, payloadHash } };
}

/** What is hashed instead of the command, in the same form. */
function askedBytes(
  number: number,
  field: { write(writer: RecordWriter, operation: never): void },
  asked: ClientOperation,
): Uint8Array {
  const writer = new RecordWriter().fixed(NO_HASH, HASH_BYTES - 1).uint8(number);
  field.write(writer, asked as never);
  return writer.finish();
}

type OperationKind = ReturnType<typeof kindOfNumber>;

function mayLackId(kind: OperationKind): boolean {
  return kind.caller === "client" && kind.mayLackId;
}

function formatOf(kind: OperationKind, hasRequest: boolean): number {
  return hasRequest && mayLackId(kind) ? FORMAT_WITH_REQUEST : FORMAT;
}

/**
 * Decodes the command of an entry's payload, which runs from `from` to the end of the bytes. Raises an
 * InvariantViolation for bytes that `encodeCommand` never wrote.
 */
export function decodeCommand(bytes: Uint8Array, from = 0): Command {
  const { reader, kind, principal, request } = readHead(bytes, from);
  const operation = kind.field.read(reader);
  reader.end();
  // The value of a kind reads operations of this kind, and its caller says what else the command has.
  return { principal, request, operation } as Command;
}

function requireFormat(format: number, canLackId: boolean): void {
  if (format !== FORMAT && !(format === FORMAT_WITH_REQUEST && canLackId)) {
    throw new InvariantViolation("commands have a known format", String(format));
  }
}

/** How the command at `from` is divided; null if it never takes long. Does not decode it. */
export function divisionOf(bytes: Uint8Array, from = 0): OperationKind["division"] {
  return kindOfNumber(bytes[from + KIND_OFFSET] as number).division;
}

/** The same as `decodeCommand`, in steps, for a payload that has a `divisionOf`. */
export function* decodeInSteps(bytes: Uint8Array): Steps<Command> {
  const { reader, kind, principal, request } = readHead(bytes, 0);
  invariant(kind.division !== null, "only long commands are decoded in steps", () => kind.kind);
  const operation = yield* kind.division.read(reader);
  reader.end();
  return { principal, request, operation } as Command;
}

/** What comes before the operation, and a reader of the operation. */
function readHead(bytes: Uint8Array, from: number) {
  const reader = new RecordReader(bytes, from);
  const format = reader.uint8();
  const kind = kindOfNumber(reader.uint8());
  requireFormat(format, mayLackId(kind));
  const isOfClient = kind.caller === "client";
  const principal = isOfClient ? readPrincipal(reader) : null;
  const hasRequest = format === FORMAT_WITH_REQUEST || (isOfClient && !kind.mayLackId);
  const request = hasRequest ? requestIdentity.read(reader) : null;
  return { reader, kind, principal, request };
}
