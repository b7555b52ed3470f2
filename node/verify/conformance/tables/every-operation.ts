/**
 * What all operations have in common: the order of checks, metadata, integers that are too large, access, and
 * malformed messages. Each operation provides a request that succeeds, and ways to break it.
 */

import { ReadConsistency, RWMode, TransactionOperation } from "@quoin/proto";
import {
  acquireLock,
  acquireRWLock,
  acquireSemaphore,
  allocateMemory,
  bytesOf,
  type Connection,
  claimsOf,
  compareAndSwap,
  countKeys,
  createLock,
  createNamespace,
  createRWLock,
  createSemaphore,
  createSession,
  deleteKey,
  deleteLock,
  deleteNamespace,
  deleteRWLock,
  deleteSemaphore,
  describeLock,
  describeMemory,
  describeRWLock,
  describeSemaphore,
  describeSession,
  type Entries,
  endSession,
  forceReleaseLock,
  freeMemory,
  getCluster,
  getKey,
  listKeys,
  listKeyVersions,
  listLocks,
  listLockWaits,
  listMemoryRegions,
  listNamespaces,
  listSessions,
  type Operation,
  putKey,
  type Reason,
  readMemory,
  releaseLock,
  releaseRWLock,
  releaseSemaphore,
  renewSessions,
  resizeMemory,
  setLockValue,
  succeeded,
  type Table,
  type TestContext,
  touchKey,
  transact,
  transaction,
  updateSemaphore,
  watchKeys,
  watchLocks,
  writeMemory,
} from "../harness/index.ts";

/** How to break a request of an operation. */
interface Description<Request> {
  /** A request that succeeds once, on this connection; by default on the place's own. */
  readonly valid: (context: TestContext, connection?: Connection) => Promise<Partial<Request>>;
  /** Fields that break a rule, and the name of the wrong field. */
  readonly invalid?: { readonly fields: Partial<Request>; readonly field: string };
  /** Fields that name something which does not exist. */
  readonly absent?: { readonly fields: Partial<Request>; readonly reason: Reason };
  /** All int64 fields, `a.b` within a message. */
  readonly integers?: readonly string[];
  /** Whether it takes a guard. */
  readonly guarded?: boolean;
  /** Whether it needs no token. */
  readonly tokenless?: boolean;
  /** What the field `namespace` is, if it is not a namespace that must exist. */
  readonly namespace?: "absent" | "created" | "a filter" | "default if empty";
  /** Name of the field 1, if it is not `namespace`; null = it is no text. */
  readonly firstText?: string | null;
}

/** No int64 of a request may lie further from 0 than 2^53 - 1. */
const TOO_LARGE = 2n ** 53n;
/** A malformed message: a field with an invalid wire type. */
const GARBAGE = Buffer.from([0xff, 0xff]);
/** Field 1 with two bytes of invalid UTF-8. */
const NOT_UTF8 = Buffer.from([0x0a, 0x02, 0xff, 0xfe]);
/** The unknown field 1,000 with the number 1. */
const UNKNOWN_FIELD = Buffer.from([0xc0, 0x3e, 0x01]);
export const ABSENT_ID = "00000000-0000-4000-8000-000000000000";

/** Calls the operation, which must succeed. For a stream, waits for its first message. */
async function succeeds<Request, Response>(
  context: TestContext,
  operation: Operation<Request, Response>,
  fields: Partial<Request> | Buffer,
  metadata: Readonly<Record<string, string | null>> = {},
): Promise<void> {
  if (!operation.method.responseStream) {
    succeeded(await context.here.call(operation, fields, { metadata }));
    return;
  }
  const stream = context.here.stream(operation, fields, { metadata });
  await stream.until("its first message", (messages) => messages.length > 0);
  stream.cancel();
}

function withField<Request extends object>(
  request: Partial<Request>,
  path: string,
  value: bigint | string,
): Partial<Request> {
  const [name = "", inner] = path.split(".");
  if (inner === undefined) {
    return { ...request, [name]: value };
  }
  return { ...request, [name]: { ...Reflect.get(request, name), [inner]: value } };
}

function protobufName(path: string): string {
  return path.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export function tableOf<Request extends object, Response>(
  operation: Operation<Request, Response>,
  description: Description<Request>,
): Table {
  return {
    name: operation.name,
    entries: {
      ...orderEntries(operation, description),
      ...decodingEntries(operation, description),
      ...accessEntries(operation, description),
    },
  };
}

function orderEntries<Request extends object, Response>(
  operation: Operation<Request, Response>,
  { valid, invalid, absent, guarded = false, tokenless = false, namespace }: Description<Request>,
): Entries {
  return {
    "makes its checks in the order of the contract, and the first that fails answers": async (context) => {
      const nowhere = namespace === "absent" ? {} : { namespace: context.freeNamespaceName() };
      const guard = guarded ? { guard: { lockName: context.name(), fencingToken: 1n, rw: false } } : {};
      const wrong = { authorization: null, "api-version": "v2", "request-id": "1" };
      if (!tokenless) {
        await context.refuses(operation, GARBAGE, "TOKEN_INVALID", { metadata: wrong });
      }
      const { authorization: _, ...withToken } = wrong;
      const apiVersion = { metadata: withToken, field: "api-version" };
      await context.refuses(operation, GARBAGE, "BAD_METADATA", apiVersion);
      const requestId = { metadata: { "request-id": "1" }, field: "request-id" };
      await context.refuses(operation, GARBAGE, "BAD_METADATA", requestId);
      await context.refuses(operation, GARBAGE, "BAD_FIELD");
      const request = await valid(context);
      if (invalid !== undefined) {
        const fields = { ...request, ...absent?.fields, ...guard, ...nowhere, ...invalid.fields };
        await context.refuses(operation, fields, "BAD_FIELD", { field: invalid.field });
      }
      if (namespace === undefined || namespace === "default if empty") {
        const fields = { ...request, ...absent?.fields, ...guard, ...nowhere };
        await context.refuses(operation, fields, "NAMESPACE_NOT_FOUND");
      }
      if (guarded) {
        await context.refuses(operation, { ...request, ...absent?.fields, ...guard }, "FENCED");
      }
      if (absent !== undefined) {
        await context.refuses(operation, { ...request, ...absent.fields }, absent.reason);
      }
      await succeeds(context, operation, request);
    },
    "takes a request id of any version and in any case, once, and only over HTTP none": async (context) => {
      const request = await valid(context);
      for (const value of [
        "",
        "123e4567-e89b-42d3-a456-42661417400",
        `{${ABSENT_ID}}`,
        ABSENT_ID.replaceAll("-", ""),
      ]) {
        const options = { metadata: { "request-id": value }, field: "request-id" };
        await context.refuses(operation, request, "BAD_METADATA", options);
      }
      for (const name of ["request-id", "api-version"]) {
        const value = name === "request-id" ? ABSENT_ID : "v1";
        const twice = { metadata: { [name]: [value, value] }, field: name };
        await context.refuses(operation, request, "BAD_METADATA", twice);
        if (context.here.protocol === "grpc") {
          await context.refuses(operation, request, "BAD_METADATA", { metadata: { [name]: null }, field: name });
        }
      }
      const upperCase = crypto
        .randomUUID()
        .toUpperCase()
        .replace(/^(.{14})4/, "$1F");
      await succeeds(context, operation, request, { "request-id": upperCase });
      if (context.here.protocol === "connect") {
        const without = { "request-id": null, "api-version": null };
        await succeeds(context, operation, await valid(context), without);
      }
    },
  };
}

function decodingEntries<Request extends object, Response>(
  operation: Operation<Request, Response>,
  { valid, integers = [], namespace: field, firstText = "namespace" }: Description<Request>,
): Entries {
  const entries: Record<string, (context: TestContext) => Promise<void>> = {
    "ignores fields that it does not know": async (context) => {
      const bytes = bytesOf(operation, await valid(context));
      await succeeds(context, operation, Buffer.concat([bytes, UNKNOWN_FIELD]));
    },
  };
  if (firstText !== null) {
    entries["refuses text that is not UTF-8"] = async (context) => {
      await context.refuses(operation, NOT_UTF8, "BAD_FIELD", { field: firstText });
    };
  }
  if (field !== "absent") {
    entries["refuses a namespace that is missing or cannot be one"] = async (context) => {
      const request = await valid(context);
      const missing = field === "a filter" || field === "default if empty" ? [] : [""];
      for (const namespace of [...missing, "A", "-a", "a-", "a/b", "ä", "a".repeat(64)]) {
        await context.refuses(operation, { ...request, namespace }, "BAD_FIELD", { field: "namespace" });
      }
    };
  }
  if (integers.length > 0) {
    entries["S17: refuses every int64 beyond 2^53 - 1, by name, and rounds none"] = async (context) => {
      const request = await valid(context);
      for (const path of integers) {
        for (const value of [TOO_LARGE, TOO_LARGE + 1n, -TOO_LARGE, 2n ** 63n - 1n]) {
          const fields = withField(request, path, value);
          await context.refuses(operation, fields, "BAD_FIELD", { field: protobufName(path) });
        }
      }
    };
  }
  return entries;
}

function accessEntries<Request extends object, Response>(
  operation: Operation<Request, Response>,
  { valid, invalid, tokenless = false, namespace }: Description<Request>,
): Entries {
  if (tokenless) {
    return {
      "needs no token": async (context) => {
        await succeeds(context, operation, await valid(context), { authorization: null });
      },
    };
  }
  const entries: Record<string, (context: TestContext) => Promise<void>> = {
    "wants a token, in the form of the specification": async (context) => {
      const request = await valid(context);
      const { token } = context.testRun.target;
      const [header, payload, signature = ""] = token.split(".");
      const forged = `${signature.startsWith("A") ? "B" : "A"}${signature.slice(1)}`;
      const unsigned = Buffer.from(JSON.stringify({ alg: "none" })).toString("base64url");
      for (const authorization of [
        null,
        "",
        "Bearer",
        token,
        `Basic ${token}`,
        "Bearer x.y.z",
        `Bearer ${header}.${payload}.${forged}`,
        `Bearer ${unsigned}.${payload}.`,
      ]) {
        await context.refuses(operation, request, "TOKEN_INVALID", { metadata: { authorization } });
      }
    },
    "refuses a token that has expired": async (context) => {
      const connection = context.testRun.at(
        context.here.endpoint,
        context.otherToken("that has expired", () => true, true),
      );
      await context.refuses(operation, GARBAGE, "TOKEN_EXPIRED", { connection, metadata: { "api-version": "v2" } });
    },
  };
  const { access } = operation;
  if (access === null) {
    return entries;
  }
  const wrong = (context: TestContext): Partial<Request> =>
    withField({ ...invalid?.fields }, "namespace", context.freeNamespaceName());
  if (access !== "read") {
    entries[`S43: wants the access ${access}, before it looks at fields or for anything`] = async (context) => {
      const token = context.otherToken(
        `without the access ${access} and for all namespaces`,
        (claims) => !allows(claims.access, access) && claims.namespaces.includes("*"),
      );
      await context.refuses(operation, wrong(context), "ACCESS_DENIED", {
        connection: context.testRun.at(context.here.endpoint, token),
      });
    };
  }
  if (access !== "admin") {
    entries["takes a token that has just the access which it needs"] = async (context) => {
      const token = context.otherToken(
        `whose highest access is ${access} and for all namespaces`,
        (claims) => highest(claims.access) === access && claims.namespaces.includes("*"),
      );
      const request = await valid(context, context.testRun.at(context.here.endpoint, token));
      await succeeds(context, operation, request, { authorization: `Bearer ${token}` });
    };
  }
  if (namespace === "absent") {
    return entries;
  }
  entries["S40, S43: wants the namespace among those of the token, before it looks at fields or for anything"] = async (
    context,
  ) => {
    const token = context.otherToken("for some namespaces only", ({ namespaces }) => !namespaces.includes("*"));
    const connection = context.testRun.at(context.here.endpoint, token);
    await context.refuses(operation, wrong(context), "NAMESPACE_DENIED", { connection });
    const [granted = ""] = claimsOf(token).namespaces;
    for (const namespace of [`${granted}x`, granted.slice(0, -1), context.namespace]) {
      const fields = withField({ ...invalid?.fields }, "namespace", namespace);
      await context.refuses(operation, fields, "NAMESPACE_DENIED", { connection });
    }
  };
  return entries;
}

const LEVELS = ["read", "write", "admin"];

function highest(access: readonly string[]): string | undefined {
  return LEVELS.findLast((level) => access.includes(level));
}

/** Whether the token has this access level: admin includes write, and write includes read. */
function allows(access: readonly string[], level: string): boolean {
  return LEVELS.indexOf(highest(access) ?? "") >= LEVELS.indexOf(level);
}

/** Creates a key with the value v. Returns its namespace and name. */
async function newKey(context: TestContext): Promise<{ namespace: string; key: string }> {
  const named = { namespace: context.namespace, key: context.name() };
  await context.ask(putKey, { ...named, value: Buffer.from("v") });
  return named;
}

async function newNamespace(context: TestContext): Promise<{ namespace: string }> {
  const namespace = context.freeNamespaceName();
  await context.ask(createNamespace, { namespace });
  return { namespace };
}

/** Of the user of the connection, who alone may end it. */
async function newSession(context: TestContext, connection = context.here) {
  const { namespace } = context;
  const { sessionId } = succeeded(await connection.call(createSession, { namespace, ttlSeconds: 60n }));
  return { namespace, sessionId };
}

async function newRegion(context: TestContext): Promise<{ namespace: string; regionId: string }> {
  const { namespace } = context;
  const { regionId } = await context.ask(allocateMemory, { namespace, sizeBytes: 100n });
  return { namespace, regionId };
}

const KEY_INVALID = { fields: { key: "" }, field: "key" };
const KEY_ABSENT = { fields: { key: "there is no such key" }, reason: "KEY_NOT_FOUND" } as const;
const LOCK_INVALID = { fields: { name: "" }, field: "name" };
const LOCK_ABSENT = { fields: { name: "there is no such lock" }, reason: "LOCK_NOT_FOUND" } as const;
const SESSION_INVALID = { fields: { sessionId: 0n }, field: "session_id" };
const SESSION_ABSENT = { fields: { sessionId: 2n ** 52n }, reason: "SESSION_NOT_FOUND" } as const;
const REGION_INVALID = { fields: { regionId: "no UUID" }, field: "region_id" };
const REGION_ABSENT = { fields: { regionId: ABSENT_ID }, reason: "REGION_NOT_FOUND" } as const;

async function heldLock(context: TestContext, connection = context.here) {
  const lock = await context.lock();
  const { fencingToken } = succeeded(await connection.call(acquireLock, lock));
  return { ...lock, fencingToken };
}

async function heldSemaphore(context: TestContext, connection = context.here) {
  const semaphore = await context.semaphore(1);
  const { fencingToken } = succeeded(await connection.call(acquireSemaphore, { ...semaphore, permits: 1 }));
  return { ...semaphore, fencingToken };
}

async function heldReadWriteLock(context: TestContext, connection = context.here) {
  const lock = await context.readWriteLock();
  const { fencingToken } = succeeded(await connection.call(acquireRWLock, { ...lock, mode: RWMode.WRITE }));
  return { ...lock, fencingToken };
}

export const everyOperation: readonly Table[] = [
  tableOf(createNamespace, {
    valid: async (context) => ({ namespace: context.freeNamespaceName() }),
    namespace: "created",
  }),
  tableOf(deleteNamespace, { valid: newNamespace }),
  tableOf(getKey, { valid: newKey, invalid: KEY_INVALID, absent: KEY_ABSENT }),
  tableOf(putKey, {
    valid: async (context) => ({ namespace: context.namespace, key: context.name() }),
    invalid: KEY_INVALID,
    integers: ["ttlSeconds", "expectedModRevision", "guard.fencingToken"],
    guarded: true,
  }),
  tableOf(deleteKey, {
    valid: newKey,
    invalid: KEY_INVALID,
    absent: KEY_ABSENT,
    integers: ["expectedModRevision", "guard.fencingToken"],
    guarded: true,
  }),
  tableOf(listKeys, {
    valid: async ({ namespace, prefix }) => ({ namespace, prefix }),
    invalid: { fields: { pageSize: -1 }, field: "page_size" },
  }),
  tableOf(countKeys, {
    valid: async ({ namespace, prefix }) => ({ namespace, prefix }),
    invalid: { fields: { consistency: ReadConsistency.UNRECOGNIZED }, field: "consistency" },
  }),
  tableOf(compareAndSwap, {
    valid: async (context) => ({ namespace: context.namespace, key: context.name() }),
    invalid: KEY_INVALID,
    integers: ["expectedModRevision", "ttlSeconds", "guard.fencingToken"],
    guarded: true,
  }),
  tableOf(touchKey, {
    valid: newKey,
    invalid: KEY_INVALID,
    absent: KEY_ABSENT,
    integers: ["ttlSeconds", "expectedModRevision", "guard.fencingToken"],
    guarded: true,
  }),
  tableOf(listNamespaces, {
    valid: async () => ({ pageSize: 1 }),
    invalid: { fields: { pageSize: -1 }, field: "page_size" },
    namespace: "absent",
    firstText: "prefix",
  }),
  tableOf(listKeyVersions, { valid: newKey, invalid: KEY_INVALID }),
  tableOf(createLock, {
    valid: async (context) => ({ namespace: context.namespace, name: context.name() }),
    invalid: LOCK_INVALID,
    integers: ["ttlSeconds", "lockDelaySeconds"],
  }),
  tableOf(describeLock, { valid: (context) => context.lock(), invalid: LOCK_INVALID, absent: LOCK_ABSENT }),
  tableOf(acquireLock, {
    valid: (context) => context.lock(),
    invalid: LOCK_INVALID,
    absent: LOCK_ABSENT,
    integers: ["ttlSeconds", "waitMs", "fencingToken"],
  }),
  tableOf(releaseLock, {
    valid: heldLock,
    invalid: LOCK_INVALID,
    absent: LOCK_ABSENT,
    integers: ["fencingToken"],
  }),
  tableOf(forceReleaseLock, {
    valid: heldLock,
    invalid: LOCK_INVALID,
    absent: LOCK_ABSENT,
    integers: ["fencingToken"],
  }),
  tableOf(deleteLock, { valid: (context) => context.lock(), invalid: LOCK_INVALID, absent: LOCK_ABSENT }),
  tableOf(deleteRWLock, { valid: (context) => context.readWriteLock(), invalid: LOCK_INVALID, absent: LOCK_ABSENT }),
  tableOf(createRWLock, {
    valid: async (context) => ({ namespace: context.namespace, name: context.name() }),
    invalid: LOCK_INVALID,
    integers: ["ttlSeconds", "lockDelaySeconds"],
  }),
  tableOf(describeRWLock, { valid: (context) => context.readWriteLock(), invalid: LOCK_INVALID, absent: LOCK_ABSENT }),
  tableOf(acquireRWLock, {
    valid: async (context) => ({ ...(await context.readWriteLock()), mode: RWMode.READ }),
    invalid: { fields: { mode: RWMode.RW_MODE_UNSPECIFIED }, field: "mode" },
    absent: LOCK_ABSENT,
    integers: ["ttlSeconds", "waitMs", "fencingToken"],
  }),
  tableOf(releaseRWLock, {
    valid: heldReadWriteLock,
    invalid: LOCK_INVALID,
    absent: LOCK_ABSENT,
    integers: ["fencingToken"],
  }),
  tableOf(setLockValue, {
    valid: async (context, connection) => ({ ...(await heldLock(context, connection)), value: Buffer.from("v") }),
    invalid: LOCK_INVALID,
    absent: LOCK_ABSENT,
    integers: ["fencingToken"],
  }),
  tableOf(createSemaphore, {
    valid: async (context) => ({ namespace: context.namespace, name: context.name(), permits: 1 }),
    invalid: LOCK_INVALID,
    integers: ["ttlSeconds"],
  }),
  tableOf(describeSemaphore, { valid: (context) => context.semaphore(1), invalid: LOCK_INVALID, absent: LOCK_ABSENT }),
  tableOf(acquireSemaphore, {
    valid: async (context) => ({ ...(await context.semaphore(1)), permits: 1 }),
    invalid: { fields: { permits: 0 }, field: "permits" },
    absent: LOCK_ABSENT,
    integers: ["ttlSeconds", "waitMs", "fencingToken"],
  }),
  tableOf(releaseSemaphore, {
    valid: heldSemaphore,
    invalid: LOCK_INVALID,
    absent: LOCK_ABSENT,
    integers: ["fencingToken"],
  }),
  tableOf(updateSemaphore, {
    valid: async (context) => ({ ...(await context.semaphore(1)), permits: 2 }),
    invalid: { fields: { permits: 0 }, field: "permits" },
    absent: LOCK_ABSENT,
  }),
  tableOf(deleteSemaphore, { valid: (context) => context.semaphore(1), invalid: LOCK_INVALID, absent: LOCK_ABSENT }),
  tableOf(listLocks, {
    valid: async ({ namespace, prefix }) => ({ namespace, namePrefix: prefix }),
    invalid: { fields: { waitsMax: 101 }, field: "waits_max" },
  }),
  tableOf(listLockWaits, { valid: (context) => context.lock(), invalid: LOCK_INVALID, absent: LOCK_ABSENT }),
  tableOf(allocateMemory, {
    valid: async ({ namespace }) => ({ namespace, sizeBytes: 1n }),
    invalid: { fields: { sizeBytes: 0n }, field: "size_bytes" },
    integers: ["sizeBytes"],
  }),
  tableOf(describeMemory, { valid: newRegion, invalid: REGION_INVALID, absent: REGION_ABSENT }),
  tableOf(resizeMemory, {
    valid: async (context) => ({ ...(await newRegion(context)), sizeBytes: 200n }),
    invalid: REGION_INVALID,
    absent: REGION_ABSENT,
    integers: ["sizeBytes", "expectedVersion", "guard.fencingToken"],
    guarded: true,
  }),
  tableOf(freeMemory, {
    valid: newRegion,
    invalid: REGION_INVALID,
    absent: REGION_ABSENT,
    integers: ["expectedVersion", "guard.fencingToken"],
    guarded: true,
  }),
  tableOf(writeMemory, {
    valid: async (context) => ({ ...(await newRegion(context)), data: Buffer.from("bytes") }),
    invalid: REGION_INVALID,
    absent: REGION_ABSENT,
    integers: ["offset", "expectedVersion", "guard.fencingToken"],
    guarded: true,
  }),
  tableOf(readMemory, {
    valid: newRegion,
    invalid: REGION_INVALID,
    absent: REGION_ABSENT,
    integers: ["offset", "length"],
  }),
  tableOf(listMemoryRegions, {
    valid: async ({ namespace }) => ({ namespace }),
    invalid: { fields: { pageSize: 1_001 }, field: "page_size" },
  }),
  tableOf(createSession, {
    valid: async ({ namespace }) => ({ namespace, ttlSeconds: 1n }),
    invalid: { fields: { ttlSeconds: 0n }, field: "ttl_seconds" },
    integers: ["ttlSeconds"],
  }),
  tableOf(renewSessions, {
    valid: async ({ namespace }) => ({ namespace, sessions: [{ sessionId: 1n }] }),
    invalid: { fields: { sessions: [] }, field: "sessions" },
    // A session of no namespace has ended, as any other that is not there.
    namespace: "a filter",
  }),
  tableOf(endSession, { valid: newSession, invalid: SESSION_INVALID, absent: SESSION_ABSENT, integers: ["sessionId"] }),
  tableOf(describeSession, {
    valid: (context) => newSession(context),
    invalid: SESSION_INVALID,
    absent: SESSION_ABSENT,
    integers: ["sessionId"],
  }),
  tableOf(listSessions, {
    valid: async ({ namespace }) => ({ namespace }),
    invalid: { fields: { pageSize: 1_001 }, field: "page_size" },
  }),
  tableOf(transact, {
    valid: async (context) => transaction(context, { success: [{ put: { key: context.name() } }] }),
    invalid: {
      fields: { success: [TransactionOperation.fromPartial({ put: { key: "" } })] },
      field: "success[0].put.key",
    },
    absent: {
      fields: { success: [TransactionOperation.fromPartial({ touch: { key: "there is no such key" } })] },
      reason: "KEY_NOT_FOUND",
    },
    integers: ["guard.fencingToken"],
    guarded: true,
  }),
  tableOf(watchKeys, {
    valid: async ({ namespace, prefix }) => ({ namespace, prefix }),
    invalid: { fields: { progressIntervalMs: 99n }, field: "progress_interval_ms" },
    integers: ["startRevision", "progressIntervalMs"],
  }),
  tableOf(watchLocks, {
    valid: async ({ namespace, prefix }) => ({ namespace, namePrefix: prefix }),
    invalid: { fields: { progressIntervalMs: 99n }, field: "progress_interval_ms" },
    integers: ["startRevision", "progressIntervalMs"],
  }),
  tableOf(getCluster, { valid: async () => ({}), namespace: "absent", firstText: null }),
];
