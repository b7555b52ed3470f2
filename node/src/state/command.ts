/**
 * Commands: the form of a mutation that is proposed. No later step reads the API message.
 *
 * A client's command carries the caller (apply checks it again), the request id, and the hash of the request, which
 * together identify a retry. Commands by HTTP have no request id: a retry runs again unless the operation itself
 * recognises it. Commands that the cluster proposes itself carry neither.
 */

import { InvariantViolation, invariant } from "../primitives/index.ts";
import { ENTRY_BYTES_MAX, ENTRY_HEADER_BYTES } from "../raft/index.ts";
import {
  ACCOUNT_CLUSTER_KINDS,
  ACCOUNT_KINDS,
  type AccountClusterOperation,
  type AccountOperation,
  readAccountClusterOperation,
  readAccountOperation,
  writeAccountOperation,
} from "./accounts/index.ts";
import type { ClaimSlot, UpdateMember } from "./cluster/index.ts";
import {
  type Checkpoint,
  type CompactHistory,
  INCARNATION_BYTES,
  type Principal,
  RecordReader,
  RecordWriter,
  type RequestIdentity,
  readAddress,
  readOptionalCount,
  readPrincipal,
  type Steps,
  type TrimHistory,
  writeAddress,
  writeOptionalCount,
  writePrincipal,
} from "./core/index.ts";
import {
  type AppendEvents,
  LOG_KINDS,
  type LogClusterOperation,
  type LogOperation,
  readAppendEvents,
  readLogOperation,
  writeLogOperation,
} from "./event-logs/index.ts";
import type { CompareAndSwap, DeleteKey, ExpireKeys, PutKey } from "./keys/index.ts";
import {
  guarded,
  type LockClientOperation,
  type LockClusterOperation,
  readAcquireLock,
  readCancelAcquisition,
  readCreateLock,
  readExpireLocks,
  readForceReleaseLock,
  readGuard,
  readReleaseLock,
  writeGuard,
  writeLockOperation,
} from "./locks/index.ts";
import {
  decodeMemoryOperation,
  type EraseMemory,
  encodeMemoryOperation,
  MEMORY_KINDS,
  type MemoryOperation,
} from "./memory/index.ts";

export interface CreateNamespace {
  readonly kind: "create-namespace";
  readonly namespace: string;
}

/** Carries only its envelope, so that windows also end when there are no writes (S21). */
export interface Tick {
  readonly kind: "tick";
}

/** Drops each generation of stored answers whose windows have all ended. */
export interface DropStoredAnswers {
  readonly kind: "drop-replays";
}

/** Carries the digest of the cluster at a checkpoint. A member with another digest must stop serving (P44). */
export interface CheckDigest extends Checkpoint {
  readonly kind: "check-digest";
}

/** Allows all entries of the next cluster version: every member can apply them. Any other version changes nothing. */
export interface SetClusterVersion {
  readonly kind: "set-cluster-version";
  readonly version: number;
}

export type ClientOperation =
  | CreateNamespace
  | PutKey
  | DeleteKey
  | CompareAndSwap
  | LockClientOperation
  | MemoryOperation;
/** Operations by HTTP, which have no request ids. */
export type HttpOperation = LogOperation | AccountOperation;

/** Operations that the cluster proposes itself: its leader, a member about itself, or a member for an administrator. */
export type ClusterOperation =
  | ExpireKeys
  | Tick
  | DropStoredAnswers
  | EraseMemory
  | TrimHistory
  | CompactHistory
  | CheckDigest
  | SetClusterVersion
  | ClaimSlot
  | UpdateMember
  | LockClusterOperation
  | LogClusterOperation
  | AccountClusterOperation;

export interface ClientCommand {
  readonly principal: Principal;
  readonly request: RequestIdentity;
  readonly operation: ClientOperation;
}

/** The same before its hash is known; the hash follows from the operation. */
export interface ClientRequest extends Omit<ClientCommand, "request"> {
  readonly request: Pick<RequestIdentity, "requestId">;
}

/** A mutation whose answer is not stored. */
export interface HttpCommand {
  readonly principal: Principal;
  readonly request: null;
  readonly operation: HttpOperation;
}

/** `principal` and `request` are null for commands that the cluster proposes itself. */
export type Command =
  | ClientCommand
  | HttpCommand
  | { readonly principal: null; readonly request: null; readonly operation: ClusterOperation };

/** Whether the command may make the state larger. Members refuse such commands while the disk is nearly full (P45). */
export function isGrowing({ operation }: Command): boolean {
  switch (operation.kind) {
    case "create-namespace":
    case "put-key":
    case "compare-and-swap":
    case "allocate-memory":
    case "write-memory":
    case "create-lock":
    case "create-api-key":
    case "create-user":
    case "create-log":
    case "append-events":
      return true;
    case "acquire-lock":
      // The renewal of a live hold is allowed, however full the disk is.
      return operation.fencingToken === 0;
    default:
      return false;
  }
}

const FORMAT = 1;
const KINDS = {
  "create-namespace": 1,
  "put-key": 2,
  "delete-key": 3,
  "compare-and-swap": 4,
  "expire-keys": 5,
  tick: 6,
  "drop-replays": 7,
  "claim-slot": 8,
  "update-member": 9,
  "check-digest": 10,
  "set-cluster-version": 11,
  "create-lock": 20,
  "acquire-lock": 21,
  "release-lock": 22,
  "force-release-lock": 23,
  "expire-locks": 24,
  "cancel-acquisition": 25,
  ...MEMORY_KINDS,
  "erase-memory": 34,
  "trim-history": 40,
  "compact-history": 41,
  ...ACCOUNT_KINDS,
  ...ACCOUNT_CLUSTER_KINDS,
  ...LOG_KINDS,
  "prune-duplicates": 54,
  "apply-retention": 55,
  "erase-logs": 56,
} as const;
/** Every kind of command. */
export const COMMAND_KINDS = Object.keys(KINDS) as readonly Command["operation"]["kind"][];
/** Kinds of commands without a principal: they have no caller, or the caller has no user record that counts. */
const CLUSTER_KINDS: ReadonlySet<number> = new Set([
  KINDS["expire-keys"],
  KINDS.tick,
  KINDS["drop-replays"],
  KINDS["claim-slot"],
  KINDS["update-member"],
  KINDS["check-digest"],
  KINDS["set-cluster-version"],
  KINDS["erase-memory"],
  KINDS["expire-locks"],
  KINDS["cancel-acquisition"],
  KINDS["trim-history"],
  KINDS["compact-history"],
  KINDS["prune-duplicates"],
  KINDS["apply-retention"],
  KINDS["erase-logs"],
  ...Object.values(ACCOUNT_CLUSTER_KINDS),
]);
/** Kinds of commands that carry a principal and no request. */
const HTTP_KINDS: ReadonlySet<number> = new Set([...Object.values(LOG_KINDS), ...Object.values(ACCOUNT_KINDS)]);
/** Where the kind stands in a command: after the format. */
const KIND_OFFSET = 1;
const REQUEST_ID_BYTES = 16;
const HASH_BYTES = 32;
const NO_HASH = new Uint8Array(HASH_BYTES - 1);

/** Size of the largest command that fits into an entry, in bytes. */
export const COMMAND_BYTES_MAX = ENTRY_BYTES_MAX - ENTRY_HEADER_BYTES;

/** The command as bytes, for the payload of an entry. */
export function encodeCommand(command: Command): Uint8Array {
  const writer = new RecordWriter().uint8(FORMAT).uint8(KINDS[command.operation.kind]);
  if (command.principal !== null) {
    writePrincipal(writer, command.principal);
  }
  if (command.request !== null) {
    writer.fixed(command.request.requestId, REQUEST_ID_BYTES).fixed(command.request.payloadHash, HASH_BYTES);
  }
  encodeOperation(writer, command.operation);
  return writer.finish();
}

/**
 * Encodes the request as its command, with the hash that identifies its retries. The hash covers the kind and the
 * fields of the operation in the encoding of the command. That encoding is unique and leaves out the caller, the
 * request id, and the form of the message. So the operation is encoded once and hashed in place.
 *
 * @param sha256 returns the 32 bytes of the SHA-256 of its argument.
 */
export function encodeRequest(
  { principal, request: { requestId }, operation }: ClientRequest,
  sha256: (bytes: Uint8Array) => Uint8Array,
): { readonly payload: Uint8Array; readonly request: RequestIdentity } {
  const kind = KINDS[operation.kind];
  const writer = new RecordWriter().uint8(FORMAT).uint8(kind);
  writePrincipal(writer, principal);
  writer.fixed(requestId, REQUEST_ID_BYTES);
  const hashOffset = writer.length;
  // While the hash is computed, its place holds the kind.
  writer.fixed(NO_HASH, HASH_BYTES - 1).uint8(kind);
  encodeOperation(writer, operation);
  const payload = writer.finish();
  const payloadHash = sha256(payload.subarray(hashOffset));
  invariant(payloadHash.length === HASH_BYTES, "a SHA-256 has 32 bytes");
  payload.set(payloadHash, hashOffset);
  return { payload, request: { requestId, payloadHash } };
}

/**
 * Decodes the command of an entry's payload, which runs from `from` to the end of the bytes. Raises an
 * InvariantViolation for bytes that `encodeCommand` never wrote.
 */
export function decodeCommand(bytes: Uint8Array, from = 0): Command {
  const reader = new RecordReader(bytes, from);
  requireFormat(reader.uint8());
  const kind = reader.uint8();
  if (CLUSTER_KINDS.has(kind)) {
    const operation = decodeClusterOperation(kind, reader);
    reader.end();
    return { principal: null, request: null, operation };
  }
  const principal = readPrincipal(reader);
  if (HTTP_KINDS.has(kind)) {
    const operation = readLogOperation(kind, reader) ?? readAccountOperation(kind, reader);
    reader.end();
    return { principal, request: null, operation };
  }
  const request = { requestId: reader.fixed(REQUEST_ID_BYTES), payloadHash: reader.fixed(HASH_BYTES) };
  const operation = decodeClientOperation(kind, reader);
  reader.end();
  return { principal, request, operation };
}

function requireFormat(format: number): void {
  if (format !== FORMAT) {
    throw new InvariantViolation("commands have a known format", String(format));
  }
}

/** Whether the payload of an entry is an append of events; does not decode it. */
export function isAppend(bytes: Uint8Array): boolean {
  return bytes[KIND_OFFSET] === LOG_KINDS["append-events"];
}

/** The same as `decodeCommand`, in steps, for a payload that `isAppend`. */
export function* decodeAppend(bytes: Uint8Array): Steps<{ principal: Principal; operation: AppendEvents }> {
  const reader = new RecordReader(bytes);
  requireFormat(reader.uint8());
  const kind = reader.uint8();
  invariant(kind === LOG_KINDS["append-events"], "only appends are decoded in steps", () => String(kind));
  const principal = readPrincipal(reader);
  const operation = yield* readAppendEvents(reader);
  reader.end();
  return { principal, operation };
}

function encodeOperation(writer: RecordWriter, operation: Command["operation"]): void {
  switch (operation.kind) {
    case "create-namespace":
      writer.text(operation.namespace);
      return;
    case "put-key":
      writer.text(operation.namespace).bytes(operation.key).bytes(operation.value).uint53(operation.ttlSeconds);
      writeOptionalCount(writer, operation.expectedModRevision);
      writer.boolean(operation.returnPrevious);
      writeGuard(writer, operation.guard);
      return;
    case "delete-key":
      writer.text(operation.namespace).bytes(operation.key);
      writeOptionalCount(writer, operation.expectedModRevision);
      writer.boolean(operation.returnPrevious);
      writeGuard(writer, operation.guard);
      return;
    case "compare-and-swap":
      writer.text(operation.namespace).bytes(operation.key);
      writer.boolean(operation.expectedValue !== undefined);
      writer.bytes(operation.expectedValue ?? new Uint8Array(0));
      writer.bytes(operation.newValue);
      writeOptionalCount(writer, operation.expectedModRevision);
      writer.uint53(operation.ttlSeconds);
      writeGuard(writer, operation.guard);
      return;
    case "allocate-memory":
    case "resize-memory":
    case "free-memory":
    case "write-memory":
      encodeMemoryOperation(writer, operation);
      return;
    case "expire-keys":
      writer.uint32(operation.keys.length);
      for (const { namespace, key, modRevision } of operation.keys) {
        writer.text(namespace).bytes(key).uint53(modRevision);
      }
      return;
    case "tick":
    case "drop-replays":
      return;
    case "trim-history":
    case "prune-duplicates":
      writer.uint32(operation.countMax);
      return;
    case "erase-memory":
    case "apply-retention":
    case "erase-logs":
      writer.uint32(operation.rowsMax);
      return;
    case "check-digest":
      writer.uint53(operation.index).uint32(operation.digest);
      return;
    case "set-cluster-version":
      writer.uint32(operation.version);
      return;
    case "compact-history":
      writer.uint53(operation.revision).text(operation.subject);
      writer.boolean(operation.request !== null);
      if (operation.request !== null) {
        writer.fixed(operation.request.requestId, REQUEST_ID_BYTES).fixed(operation.request.payloadHash, HASH_BYTES);
      }
      return;
    case "claim-slot":
      writer.text(operation.name).fixed(operation.incarnation, INCARNATION_BYTES);
      writeAddress(writer, operation.address);
      return;
    case "update-member":
      writer.uint53(operation.id).fixed(operation.incarnation, INCARNATION_BYTES);
      writeAddress(writer, operation.address);
      return;
    case "create-lock":
    case "acquire-lock":
    case "release-lock":
    case "force-release-lock":
    case "expire-locks":
    case "cancel-acquisition":
      writeLockOperation(writer, operation);
      return;
    case "create-log":
    case "update-log-settings":
    case "delete-log":
    case "append-events":
      writeLogOperation(writer, operation);
      return;
    default:
      writeAccountOperation(writer, operation);
      return;
  }
}

function decodeClientOperation(kind: number, reader: RecordReader): ClientOperation {
  switch (kind) {
    case KINDS["create-namespace"]:
      return { kind: "create-namespace", namespace: reader.text() };
    case KINDS["put-key"]: {
      const operation: PutKey = {
        kind: "put-key",
        namespace: reader.name(),
        key: reader.bytes(),
        value: reader.bytes(),
        ttlSeconds: reader.uint53(),
        expectedModRevision: readOptionalCount(reader),
        returnPrevious: reader.boolean(),
      };
      return guarded(operation, readGuard(reader));
    }
    case KINDS["delete-key"]: {
      const operation: DeleteKey = {
        kind: "delete-key",
        namespace: reader.name(),
        key: reader.bytes(),
        expectedModRevision: readOptionalCount(reader),
        returnPrevious: reader.boolean(),
      };
      return guarded(operation, readGuard(reader));
    }
    case KINDS["compare-and-swap"]: {
      const namespace = reader.name();
      const key = reader.bytes();
      const hasExpectedValue = reader.boolean();
      const expectedValue = reader.bytes();
      invariant(hasExpectedValue || expectedValue.length === 0, "fields that are absent are empty");
      const operation: CompareAndSwap = {
        kind: "compare-and-swap",
        namespace,
        key,
        expectedValue: hasExpectedValue ? expectedValue : undefined,
        newValue: reader.bytes(),
        expectedModRevision: readOptionalCount(reader),
        ttlSeconds: reader.uint53(),
      };
      return guarded(operation, readGuard(reader));
    }
    case KINDS["create-lock"]:
      return readCreateLock(reader);
    case KINDS["acquire-lock"]:
      return readAcquireLock(reader);
    case KINDS["release-lock"]:
      return readReleaseLock(reader);
    case KINDS["force-release-lock"]:
      return readForceReleaseLock(reader);
    default:
      return decodeMemoryOperation(kind, reader);
  }
}

function decodeClusterOperation(kind: number, reader: RecordReader): ClusterOperation {
  switch (kind) {
    case KINDS["expire-keys"]: {
      const keys = [];
      for (let left = reader.uint32(); left > 0; left--) {
        keys.push({ namespace: reader.text(), key: reader.bytes(), modRevision: reader.uint53() });
      }
      return { kind: "expire-keys", keys };
    }
    case KINDS["drop-replays"]:
      return { kind: "drop-replays" };
    case KINDS["erase-memory"]:
      return { kind: "erase-memory", rowsMax: reader.uint32() };
    case KINDS["prune-duplicates"]:
      return { kind: "prune-duplicates", countMax: reader.uint32() };
    case KINDS["apply-retention"]:
      return { kind: "apply-retention", rowsMax: reader.uint32() };
    case KINDS["erase-logs"]:
      return { kind: "erase-logs", rowsMax: reader.uint32() };
    case KINDS["trim-history"]:
      return { kind: "trim-history", countMax: reader.uint32() };
    case KINDS["check-digest"]:
      return { kind: "check-digest", index: reader.uint53(), digest: reader.uint32() };
    case KINDS["set-cluster-version"]:
      return { kind: "set-cluster-version", version: reader.uint32() };
    case KINDS["compact-history"]: {
      const fields = { revision: reader.uint53(), subject: reader.text() };
      const request = reader.boolean()
        ? { requestId: reader.fixed(REQUEST_ID_BYTES), payloadHash: reader.fixed(HASH_BYTES) }
        : null;
      return { kind: "compact-history", ...fields, request };
    }
    case KINDS["claim-slot"]:
      return {
        kind: "claim-slot",
        name: reader.text(),
        incarnation: reader.fixed(INCARNATION_BYTES),
        address: readAddress(reader),
      };
    case KINDS["update-member"]:
      return {
        kind: "update-member",
        id: reader.uint53(),
        incarnation: reader.fixed(INCARNATION_BYTES),
        address: readAddress(reader),
      };
    case KINDS["expire-locks"]:
      return readExpireLocks(reader);
    case KINDS["cancel-acquisition"]:
      return readCancelAcquisition(reader);
    case KINDS.tick:
      return { kind: "tick" };
    default:
      return readAccountClusterOperation(kind, reader);
  }
}
