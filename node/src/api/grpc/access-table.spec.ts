/**
 * The rights over gRPC as one table: each method × role × namespace × own, equal, greater. The list of methods comes
 * from the descriptors of the contract, so a method without rows fails.
 *
 * Actors call a real port with real tokens. Each cell has its own target, so cells are independent. The result of a
 * stream is its first message or its error.
 */

import { randomUUID } from "node:crypto";
import { fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import type { ServiceDefinition } from "@grpc/grpc-js";
import { ReadConsistency, RWMode, readDescriptorSet, serviceDefinitions, UserRole, UserStatus } from "@quoin/proto";
import { expect } from "chai";
import { service as healthService } from "grpc-health-check";
import {
  type Actor,
  Actors,
  type AnyMethod,
  encodedRequest,
  type GrpcCaller,
  GrpcPorts,
  methodsByName,
} from "../../../test/harness/index.ts";
import { createUser, secrets, updateUser } from "../../../test/index.ts";
import { type AcquireLock, derivedIdText, type LockMode, type Role } from "../../state/index.ts";

/** Actors with some namespaces have the first and the third. The first and the second exist, the others do not. */
const OWN = "a";
const OTHER = "b";
const COVERED_ONLY = "covered-only";
const NOWHERE = "nowhere";
const METHOD_MS_MAX = 20_000;
/** No session ever has this id: no revision is so high. */
const NO_SESSION_ID = 2n ** 50n;
const { LINEARIZABLE } = ReadConsistency;

/** The columns of the table. */
const COLUMNS = [
  ["viewer", "viewer", false],
  ["member", "member", false],
  ["admin", "admin", false],
  ["viewer of all", "viewer", true],
  ["admin of all", "admin", true],
  ["owner", "owner", true],
] as const satisfies readonly (readonly [string, Role, boolean])[];
type Expected = readonly [
  viewer: string,
  member: string,
  admin: string,
  viewerOfAll: string,
  adminOfAll: string,
  owner: string,
];

type Fields = Readonly<Record<string, unknown>>;
/** The request of a row, for an actor of each column. It creates the target of the cell. */
type Ask = (world: World, actor: Actor) => Fields | Promise<Fields>;
type Row = readonly [what: string, ask: Ask, expected: Expected];
/** The request about a thing in a namespace; `exists` = create the thing first. */
type AskIn = (world: World, namespace: string, isThere: boolean) => Fields;
type Level = "read" | "write" | "admin";

const OK = "OK";
const NO_ACCESS = "PERMISSION_DENIED ACCESS_DENIED";
const NO_NAMESPACE = "PERMISSION_DENIED NAMESPACE_DENIED";
const NOT_THERE = "NOT_FOUND NAMESPACE_NOT_FOUND";
const NO_KEY = "NOT_FOUND KEY_NOT_FOUND";
const NO_LOCK = "NOT_FOUND LOCK_NOT_FOUND";
const NO_REGION = "NOT_FOUND REGION_NOT_FOUND";
const NO_SESSION = "NOT_FOUND SESSION_NOT_FOUND";
const NO_LOG = "NOT_FOUND LOG_NOT_FOUND";
const NO_USER = "NOT_FOUND USER_NOT_FOUND";
const NO_API_KEY = "NOT_FOUND API_KEY_NOT_FOUND";
const BAD_FIELD = "INVALID_ARGUMENT BAD_FIELD";
const IN_USE = "FAILED_PRECONDITION NOT_EMPTY";
const NOT_HOLDER = "FAILED_PRECONDITION NOT_LOCK_HOLDER";
const NOT_SERVED = "UNIMPLEMENTED NOT_SERVED";

/** Expected answers in a namespace that all actors have. */
function inOwn(level: Level, answer: string): Expected {
  const reads = level === "read" ? answer : NO_ACCESS;
  const writes = level === "admin" ? NO_ACCESS : answer;
  return [reads, writes, answer, reads, answer, answer];
}

/** Expected answers in a namespace that only actors with all namespaces have. */
function inOthers(level: Level, answer: string): Expected {
  return [NO_NAMESPACE, NO_NAMESPACE, NO_NAMESPACE, level === "read" ? answer : NO_ACCESS, answer, answer];
}

function same(answer: string): Expected {
  return [answer, answer, answer, answer, answer, answer];
}

/**
 * The rows of every method of a namespace.
 *
 * @param missing the answer if the namespace exists but the thing does not; null = the method needs no thing.
 */
function inNamespaces(level: Level, ask: AskIn, missing: string | null): readonly Row[] {
  const row = (what: string, namespace: string, isThere: boolean, expected: Expected): Row => [
    what,
    (world) => ask(world, namespace, isThere),
    expected,
  ];
  return [
    row("in an own namespace", OWN, true, inOwn(level, OK)),
    row("in another namespace", OTHER, true, inOthers(level, OK)),
    row("in a namespace that is covered and not there", COVERED_ONLY, false, inOwn(level, NOT_THERE)),
    row("in a namespace that is neither", NOWHERE, false, inOthers(level, NOT_THERE)),
    row("in no namespace", "", false, inOthers(level, BAD_FIELD)),
    row("in all namespaces", "*", false, inOthers(level, BAD_FIELD)),
    ...(missing === null
      ? []
      : [
          row("in an own namespace, where it is not there", OWN, false, inOwn(level, missing)),
          row("in another namespace, where it is not there", OTHER, false, inOthers(level, missing)),
        ]),
  ];
}

/** Rows about a region of another namespace, requested with the name of the actor's own namespace. */
function ofOtherRegion(level: Level, fields: Fields = {}): Row {
  const ask: Ask = (world) => ({ namespace: OWN, regionId: world.region(OTHER), ...fields });
  return ["in an own namespace, by the id of another one's", ask, inOwn(level, NO_REGION)];
}

/** Rows about a hold: of the actor, or of another actor with a lower, equal or higher role. */
function aboutHolds(
  mode: LockMode,
  fields: (world: World, name: string, token: number) => Fields,
  own: Expected,
  others: Expected,
): readonly Row[] {
  const holders = [
    ["a member's", "member", [OWN]],
    ["an admin's", "admin", [OWN]],
    ["an owner's", "owner", ["*"]],
  ] as const;
  return [
    [
      "the actor's own hold",
      (world, actor) => {
        const { name, token } = world.actors.asOwner(actor, () => world.heldLock(OWN, mode, actor));
        return fields(world, name, token);
      },
      own,
    ],
    ...holders.map(([whose, role, namespaces]): Row => {
      const ask: Ask = async (world) => {
        const { name, token } = world.heldLock(OWN, mode, await world.actors.add(role, namespaces));
        return fields(world, name, token);
      };
      return [`${whose} hold in an own namespace`, ask, others];
    }),
  ];
}

const keyIn: AskIn = (world, namespace, isThere) => ({ namespace, key: world.key(namespace, isThere) });
const lockIn =
  (mode: LockMode, fields: Fields = {}): AskIn =>
  (world, namespace, isThere) => ({ namespace, name: world.lock(namespace, mode, isThere), ...fields });
const regionIn =
  (fields: Fields = {}): AskIn =>
  (world, namespace, isThere) => ({
    namespace,
    regionId: isThere ? world.region(namespace) : randomUUID(),
    ...fields,
  });
const sessionIn =
  (fields: Fields = {}): AskIn =>
  (world, namespace, isThere) => ({
    namespace,
    sessionId: isThere ? world.session(namespace) : NO_SESSION_ID,
    ...fields,
  });
const namedIn =
  (fields: Fields = {}): AskIn =>
  (_world, namespace) => ({ namespace, ...fields });
const newIn: AskIn = (_world, namespace) => ({ namespace, name: randomUUID() });

/** A guard by a hold of the owner, which is valid for every caller that has its token. */
function guarded(fields: (world: World) => Fields): Row {
  const ask: Ask = (world) => {
    const { name, token } = world.heldLock(OWN, "exclusive");
    return { namespace: OWN, ...fields(world), guard: { lockName: name, fencingToken: BigInt(token), rw: false } };
  };
  return ["in an own namespace, guarded by another's hold", ask, inOwn("write", OK)];
}

/** A guard whose lock is in another namespace; it is searched in the namespace of the request. */
function guardedElsewhere(fields: (world: World) => Fields): Row {
  const ask: Ask = (world) => {
    const { name, token } = world.heldLock(OTHER, "exclusive");
    return { namespace: OWN, ...fields(world), guard: { lockName: name, fencingToken: BigInt(token), rw: false } };
  };
  return ["in an own namespace, guarded by a hold in another one", ask, inOwn("write", "ABORTED FENCED")];
}

const MODE = { mode: RWMode.READ };

/** Rows about the deletion of a lock: free, in use, and in use with force. */
function ofDeletions(mode: LockMode): readonly Row[] {
  const inUse =
    (fields: Fields): Ask =>
    (world) => ({ namespace: OWN, name: world.heldLock(OWN, mode).name, ...fields });
  return [
    ...inNamespaces("write", lockIn(mode), NO_LOCK),
    ...inNamespaces("admin", lockIn(mode, { force: true }), NO_LOCK).map(
      ([what, ask, expected]): Row => [`${what}, with force`, ask, expected],
    ),
    ["in use", inUse({}), inOwn("write", IN_USE)],
    ["in use, with force", inUse({ force: true }), inOwn("admin", OK)],
  ];
}

/** Methods of the whole cluster: they need an admin of all namespaces. */
const CLUSTER_ADMIN = (ask: Ask, answer = OK): readonly Row[] => [
  ["of the cluster", ask, [NO_NAMESPACE, NO_NAMESPACE, NO_NAMESPACE, NO_ACCESS, answer, answer]],
];
const ON_ADMIN_PORT: readonly Row[] = [["on the public port", () => ({}), same(NOT_SERVED)]];

/** Rows about a log, which is found by its id: a log of another namespace seems not to exist. */
function ofLogs(level: "read" | "write" | "manage", fields: Fields = {}): readonly Row[] {
  const allowed = level === "read" ? "read" : "write";
  const hidden: Expected = [NO_LOG, NO_LOG, NO_LOG, OK, OK, OK];
  const inOther = hidden.map((answer, at) =>
    inOwn(allowed, OK)[at] === OK ? answer : NO_ACCESS,
  ) as unknown as Expected;
  // A member may manage only the logs that it has created.
  const managed = inOther.map((answer, at) => (at === 1 ? NO_LOG : answer)) as unknown as Expected;
  return [
    [
      "of an own namespace",
      (world) => ({ logId: world.log(OWN), ...fields }),
      inOwn(level === "manage" ? "admin" : level, OK),
    ],
    [
      "of another namespace",
      (world) => ({ logId: world.log(OTHER), ...fields }),
      level === "manage" ? managed : inOther,
    ],
    ["that is none", () => ({ logId: randomUUID(), ...fields }), inOwn(allowed, NO_LOG)],
    ["by no id", () => ({ logId: "l", ...fields }), inOwn(allowed, BAD_FIELD)],
    ...(level === "manage"
      ? [
          [
            "that the actor has created",
            (world, actor) => ({ logId: world.actors.asOwner(actor, () => world.log(OWN, actor)), ...fields }),
            inOwn("write", OK),
          ] satisfies Row,
        ]
      : []),
  ];
}

/** A guard of an append names the namespace of its lock, in which the caller must have the access too. */
function guardedAppend(namespace: string, expected: Expected, fields: Fields = {}): Row {
  const ask: Ask = (world) => {
    const { name, token } = world.heldLock(namespace, "exclusive");
    const guard = { namespace, lockName: name, fencingToken: BigInt(token), rw: false };
    return { logId: world.log(OWN), ...fields, guard };
  };
  return [`guarded by a hold in ${namespace === OWN ? "an own" : "another"} namespace`, ask, expected];
}

/** Needs the access admin, in any namespace. */
const OF_ADMINS: Expected = inOwn("admin", OK);

const TABLE: Readonly<Record<string, readonly Row[]>> = {
  "KeyValueService/CreateNamespace": [
    ["that is covered", (_world, { subject }) => ({ namespace: subject }), inOwn("admin", OK)],
    ["that is there", () => ({ namespace: OWN }), inOwn("admin", "ALREADY_EXISTS NAMESPACE_EXISTS")],
    ["that is another's", () => ({ namespace: OTHER }), inOthers("admin", "ALREADY_EXISTS NAMESPACE_EXISTS")],
    ["that is neither", () => ({ namespace: randomUUID() }), inOthers("admin", OK)],
    ["of no name", () => ({ namespace: "" }), inOthers("admin", BAD_FIELD)],
    ["of all", () => ({ namespace: "*" }), inOthers("admin", BAD_FIELD)],
  ],
  "KeyValueService/DeleteNamespace": [
    ["that is covered", (world, { subject }) => ({ namespace: world.namespace(subject) }), inOwn("admin", OK)],
    ["with a lock in it", (world) => ({ namespace: OWN, of: world.lock(OWN, "read", true) }), inOwn("admin", IN_USE)],
    [
      "of others, with a lock",
      (world) => ({ namespace: OTHER, of: world.lock(OTHER, "read", true) }),
      inOthers("admin", IN_USE),
    ],
    ["that is covered and not there", () => ({ namespace: COVERED_ONLY }), inOwn("admin", NOT_THERE)],
    ["that is neither", () => ({ namespace: NOWHERE }), inOthers("admin", NOT_THERE)],
    ["that every cluster has", () => ({ namespace: "default", recursive: true }), inOthers("admin", BAD_FIELD)],
    ["of no name", () => ({ namespace: "" }), inOthers("admin", BAD_FIELD)],
    ["of all", () => ({ namespace: "*" }), inOthers("admin", BAD_FIELD)],
  ],
  "KeyValueService/ListNamespaces": [
    ["what the caller may read", () => ({}), same(OK)],
    ["with a prefix that is none", () => ({ prefix: "*" }), same(BAD_FIELD)],
  ],
  "KeyValueService/GetKey": [
    ...inNamespaces("read", keyIn, NO_KEY),
    [
      "in another namespace, serializable",
      (world) => ({ namespace: OTHER, key: world.key(OTHER, true), consistency: ReadConsistency.SERIALIZABLE }),
      inOthers("read", OK),
    ],
  ],
  "KeyValueService/PutKey": [
    ...inNamespaces("write", keyIn, null),
    guarded((world) => ({ key: world.key(OWN, true) })),
    guardedElsewhere((world) => ({ key: world.key(OWN, true) })),
    [
      "in an own namespace, into the session of another user",
      (world) => ({ namespace: OWN, key: "k", sessionId: world.session(OWN) }),
      inOwn("write", NO_ACCESS),
    ],
  ],
  "KeyValueService/DeleteKey": [
    ...inNamespaces("write", keyIn, NO_KEY),
    guarded((world) => ({ key: world.key(OWN, true) })),
    guardedElsewhere((world) => ({ key: world.key(OWN, true) })),
  ],
  "KeyValueService/ListKeys": [
    ...inNamespaces("read", namedIn(), null),
    [
      "in an own namespace, with a page token of another one",
      async (world) => ({ namespace: OWN, pageToken: await world.keysPageToken(OTHER) }),
      same(BAD_FIELD),
    ],
  ],
  "KeyValueService/CompareAndSwap": [
    ...inNamespaces("write", keyIn, null),
    guarded((world) => ({ key: world.key(OWN, true) })),
    guardedElsewhere((world) => ({ key: world.key(OWN, true) })),
    [
      "in an own namespace, into the session of another user",
      (world) => ({ namespace: OWN, key: "k", sessionId: world.session(OWN) }),
      inOwn("write", NO_ACCESS),
    ],
  ],
  "KeyValueService/TouchKey": [
    ...inNamespaces("write", keyIn, NO_KEY),
    guarded((world) => ({ key: world.key(OWN, true) })),
    guardedElsewhere((world) => ({ key: world.key(OWN, true) })),
  ],
  "KeyValueService/ListKeyVersions": inNamespaces("read", keyIn, null),
  "KeyValueService/CountKeys": inNamespaces("read", namedIn(), null),
  "LockService/CreateLock": inNamespaces("write", newIn, null),
  "LockService/DescribeLock": inNamespaces("read", lockIn("exclusive"), NO_LOCK),
  "LockService/AcquireLock": [
    ...inNamespaces("write", lockIn("exclusive"), NO_LOCK),
    ...aboutHolds(
      "exclusive",
      (_world, name, token) => ({ namespace: OWN, name, fencingToken: BigInt(token) }),
      inOwn("write", OK),
      inOwn("write", NOT_HOLDER),
    ),
  ],
  "LockService/ReleaseLock": [
    ...inNamespaces("write", lockIn("exclusive"), NO_LOCK).filter(([what]) => !what.endsWith("namespace")),
    ["a free one in an own namespace", (world) => lockIn("exclusive")(world, OWN, true), inOwn("write", NOT_HOLDER)],
    ["a free one in another", (world) => lockIn("exclusive")(world, OTHER, true), inOthers("write", NOT_HOLDER)],
    ["in no namespace", () => ({ namespace: "", name: "l" }), inOthers("write", BAD_FIELD)],
    ...aboutHolds(
      "exclusive",
      (_world, name, token) => ({ namespace: OWN, name, fencingToken: BigInt(token) }),
      inOwn("write", OK),
      inOwn("write", NOT_HOLDER),
    ),
  ],
  "LockService/ForceReleaseLock": [
    ...inNamespaces("admin", lockIn("exclusive", { reason: "r" }), NO_LOCK),
    ...aboutHolds(
      "exclusive",
      (_world, name, token) => ({ namespace: OWN, name, fencingToken: BigInt(token), reason: "r" }),
      inOwn("admin", OK),
      inOwn("admin", OK),
    ),
  ],
  "LockService/CreateRWLock": inNamespaces("write", newIn, null),
  "LockService/DescribeRWLock": inNamespaces("read", lockIn("read"), NO_LOCK),
  "LockService/AcquireRWLock": [
    ...inNamespaces("write", lockIn("read", MODE), NO_LOCK),
    ...aboutHolds(
      "read",
      (_world, name, token) => ({ namespace: OWN, name, ...MODE, fencingToken: BigInt(token) }),
      inOwn("write", OK),
      inOwn("write", NOT_HOLDER),
    ),
  ],
  "LockService/ReleaseRWLock": [
    ...inNamespaces("write", lockIn("read"), NO_LOCK).filter(([what]) => !what.endsWith("namespace")),
    ["a free one in an own namespace", (world) => lockIn("read")(world, OWN, true), inOwn("write", NOT_HOLDER)],
    ["a free one in another", (world) => lockIn("read")(world, OTHER, true), inOthers("write", NOT_HOLDER)],
    ["in no namespace", () => ({ namespace: "", name: "l" }), inOthers("write", BAD_FIELD)],
    ...aboutHolds(
      "read",
      (_world, name, token) => ({ namespace: OWN, name, fencingToken: BigInt(token) }),
      inOwn("write", OK),
      inOwn("write", NOT_HOLDER),
    ),
  ],
  "LockService/DeleteLock": ofDeletions("exclusive"),
  "LockService/DeleteRWLock": ofDeletions("read"),
  "LockService/SetLockValue": aboutHolds(
    "exclusive",
    (_world, name, token) => ({ namespace: OWN, name, fencingToken: BigInt(token), value: Buffer.from("v") }),
    inOwn("write", OK),
    inOwn("write", NOT_HOLDER),
  ),
  "LockService/CreateSemaphore": inNamespaces("write", (...at) => ({ ...newIn(...at), permits: 2 }), null),
  "LockService/DescribeSemaphore": inNamespaces("read", lockIn("permits"), NO_LOCK),
  "LockService/AcquireSemaphore": [
    ...inNamespaces("write", lockIn("permits", { permits: 1 }), NO_LOCK),
    ...aboutHolds(
      "permits",
      (_world, name, token) => ({ namespace: OWN, name, fencingToken: BigInt(token) }),
      inOwn("write", OK),
      inOwn("write", NOT_HOLDER),
    ),
  ],
  "LockService/ReleaseSemaphore": [
    ...inNamespaces("write", lockIn("permits"), NO_LOCK).filter(([what]) => !what.endsWith("namespace")),
    ...aboutHolds(
      "permits",
      (_world, name, token) => ({ namespace: OWN, name, fencingToken: BigInt(token) }),
      inOwn("write", OK),
      inOwn("write", NOT_HOLDER),
    ),
  ],
  "LockService/UpdateSemaphore": inNamespaces("write", lockIn("permits", { permits: 3 }), NO_LOCK),
  "LockService/DeleteSemaphore": ofDeletions("permits"),
  "LockService/ListLocks": inNamespaces("read", namedIn({ waitsMax: 100 }), null),
  "LockService/ListLockWaits": inNamespaces("read", lockIn("exclusive"), NO_LOCK),
  "SessionService/CreateSession": inNamespaces("write", namedIn({ ttlSeconds: 10n }), null),
  "SessionService/RenewSessions": [
    ...inNamespaces("write", namedIn({ sessions: [{ sessionId: NO_SESSION_ID }] }), null).filter(
      ([what]) => !what.includes("covered") && !what.includes("neither"),
    ),
    [
      "in a namespace that is covered and not there",
      () => ({ namespace: COVERED_ONLY, sessions: [{ sessionId: NO_SESSION_ID }] }),
      inOwn("write", OK),
    ],
  ],
  "SessionService/EndSession": [
    [
      "the actor's own in an own namespace",
      (world, actor) => ({
        namespace: OWN,
        sessionId: world.actors.asOwner(actor, () => world.session(OWN, actor)),
      }),
      inOwn("write", OK),
    ],
    ["another user's in an own namespace", (world) => sessionIn()(world, OWN, true), inOwn("write", NO_ACCESS)],
    ["another user's in another namespace", (world) => sessionIn()(world, OTHER, true), inOthers("write", NO_ACCESS)],
    ["that is none in an own namespace", (world) => sessionIn()(world, OWN, false), inOwn("write", NO_SESSION)],
    ...inNamespaces("admin", sessionIn({ force: true }), NO_SESSION).map(
      ([what, ask, expected]): Row => [`${what}, with force`, ask, expected],
    ),
  ],
  "SessionService/DescribeSession": inNamespaces("read", sessionIn(), NO_SESSION),
  "SessionService/ListSessions": [
    ...inNamespaces("read", namedIn(), null),
    [
      "in an own namespace, with a page token of another one",
      async (world) => ({ namespace: OWN, pageToken: await world.sessionsPageToken(OTHER) }),
      same(BAD_FIELD),
    ],
  ],
  "MemoryService/AllocateMemory": inNamespaces("write", namedIn({ sizeBytes: 1n }), null),
  "MemoryService/DescribeMemory": [...inNamespaces("read", regionIn(), NO_REGION), ofOtherRegion("read")],
  "MemoryService/ResizeMemory": [
    ...inNamespaces("write", regionIn({ sizeBytes: 2n }), NO_REGION),
    ofOtherRegion("write", { sizeBytes: 2n }),
    guardedElsewhere((world) => ({ regionId: world.region(OWN), sizeBytes: 2n })),
  ],
  "MemoryService/FreeMemory": [
    ...inNamespaces("write", regionIn(), NO_REGION),
    ofOtherRegion("write"),
    guardedElsewhere((world) => ({ regionId: world.region(OWN) })),
  ],
  "MemoryService/WriteMemory": [
    ...inNamespaces("write", regionIn({ data: Uint8Array.of(1) }), NO_REGION),
    ofOtherRegion("write", { data: Uint8Array.of(1) }),
    guardedElsewhere((world) => ({ regionId: world.region(OWN), data: Uint8Array.of(1) })),
  ],
  "TransactionService/Transact": [
    ...inNamespaces("write", namedIn({ success: [{ put: { key: "transacted" } }] }), null),
    ...inNamespaces("read", namedIn({ success: [{ get: { key: "transacted" } }] }), null),
    ...inNamespaces(
      "write",
      namedIn({ success: [{ transaction: { failure: [{ deletePrefix: { prefix: "none" } }] } }] }),
      null,
    ),
    [
      "in an own namespace, with a region of another one",
      (world) => ({ namespace: OWN, success: [{ readMemory: { regionId: world.region(OTHER) } }] }),
      inOwn("read", NO_REGION),
    ],
    guardedElsewhere(() => ({ success: [{ put: { key: "transacted" } }] })),
  ],
  "MemoryService/ReadMemory": [
    ...inNamespaces("read", regionIn({ length: 1n }), NO_REGION),
    ofOtherRegion("read", { length: 1n }),
  ],
  "MemoryService/ListMemoryRegions": [
    ...inNamespaces("read", namedIn(), null),
    [
      "in an own namespace, with a page token of another one",
      async (world) => ({ namespace: OWN, pageToken: await world.regionsPageToken(OTHER) }),
      same(BAD_FIELD),
    ],
  ],
  "WatchService/WatchKeys": inNamespaces("read", namedIn(), null),
  "WatchService/WatchLocks": inNamespaces("read", namedIn(), null),
  "WatchService/ListStreams": [
    ...inNamespaces("admin", namedIn(), null).filter(([what]) => what !== "in no namespace"),
    ["of all namespaces", () => ({}), inOthers("admin", OK)],
    ["of no member", () => ({ memberId: "999" }), inOthers("admin", "NOT_FOUND MEMBER_NOT_FOUND")],
  ],
  "EventLogService/CreateLog": [
    ...inNamespaces("write", newIn, null).filter(([what]) => what !== "in no namespace"),
    ["in the default namespace", () => ({ name: randomUUID() }), inOthers("write", OK)],
  ],
  "EventLogService/GetLog": ofLogs("read"),
  "EventLogService/ListLogs": [
    ["of an own namespace", () => ({ namespace: OWN }), inOwn("read", OK)],
    ["of another namespace", () => ({ namespace: OTHER }), inOthers("read", OK)],
    ["of what the caller may read", () => ({}), same(OK)],
  ],
  "EventLogService/UpdateLog": ofLogs("manage"),
  "EventLogService/DeleteLog": ofLogs("manage"),
  "EventLogService/AppendEvent": [
    ...ofLogs("write"),
    guardedAppend(OWN, inOwn("write", OK)),
    guardedAppend(OTHER, inOthers("write", OK)),
  ],
  "EventLogService/AppendEvents": [
    ...ofLogs("write", { payloads: [Uint8Array.of(1)], idempotencyKey: "k" }),
    guardedAppend(OTHER, inOthers("write", OK), { payloads: [Uint8Array.of(1)], idempotencyKey: "k" }),
  ],
  "EventLogService/ReadEvents": ofLogs("read"),
  "EventLogService/TailEvents": ofLogs("read"),
  "AccountService/ExchangeToken": [["the owner's key", () => ({ apiKey: secrets.apiKey }), same(OK)]],
  "AccountService/Login": [
    ["the owner's password", () => ({ email: secrets.email, password: secrets.password }), same(OK)],
  ],
  "AccountService/VerifyEmail": [["an unknown token", () => ({ token: "t" }), same(BAD_FIELD)]],
  "AccountService/RequestPasswordReset": [
    [
      "any address, at a member that sends no mail",
      () => ({ email: "a@quoin.local" }),
      same("UNIMPLEMENTED NOT_SERVED"),
    ],
  ],
  "AccountService/CreateUser": [
    ["of an own namespace", () => newUser([OWN]), OF_ADMINS],
    ["of another namespace", () => newUser([OTHER]), [NO_ACCESS, NO_ACCESS, NO_NAMESPACE, NO_ACCESS, OK, OK]],
    [
      "of a greater role",
      () => newUser(["*"], UserRole.OWNER),
      [NO_ACCESS, NO_ACCESS, NO_ACCESS, NO_ACCESS, NO_ACCESS, OK],
    ],
    ["of no role", () => newUser([OWN], UserRole.USER_ROLE_UNSPECIFIED), inOwn("admin", BAD_FIELD)],
  ],
  "AccountService/GetUser": [
    ["the actor", (_world, { subject }) => ({ userId: subject }), same(OK)],
    ["of an own namespace", (world) => ({ userId: world.user([OWN]) }), OF_ADMINS],
    [
      "of another namespace",
      (world) => ({ userId: world.user([OTHER]) }),
      inOwn("admin", OK).with(2, NO_USER) as unknown as Expected,
    ],
    ["that is none", () => ({ userId: randomUUID() }), inOwn("admin", NO_USER)],
    ["by no id", () => ({ userId: "u" }), inOwn("admin", BAD_FIELD)],
  ],
  "AccountService/ListUsers": [["whom the caller may manage", () => ({}), OF_ADMINS]],
  "AccountService/UpdateUser": [
    ["of an own namespace", (world) => ({ userId: world.user([OWN]), status: UserStatus.DISABLED }), OF_ADMINS],
    [
      "of another namespace",
      (world) => ({ userId: world.user([OTHER]) }),
      inOwn("admin", OK).with(2, NO_USER) as unknown as Expected,
    ],
    [
      "to what no one may set",
      (world) => ({ userId: world.user([OWN]), status: UserStatus.UNVERIFIED }),
      inOwn("admin", BAD_FIELD),
    ],
    [
      "the actor's password without the present one",
      (_world, { subject }) => ({ userId: subject, password: "a password" }),
      same(BAD_FIELD),
    ],
  ],
  "AccountService/DeleteUser": [
    ["of an own namespace", (world) => ({ userId: world.user([OWN]) }), OF_ADMINS],
    [
      "of another namespace",
      (world) => ({ userId: world.user([OTHER]) }),
      inOwn("admin", OK).with(2, NO_USER) as unknown as Expected,
    ],
  ],
  "AccountService/CreateApiKey": [["of the actor", () => ({ name: "k" }), inOwn("write", OK)]],
  "AccountService/ListApiKeys": [
    ["the actor's own", () => ({}), same(OK)],
    ["of another user", (world) => ({ userId: world.user([OWN]) }), OF_ADMINS],
    ["of all users", () => ({ all: true }), OF_ADMINS],
  ],
  "AccountService/RevokeApiKey": [
    [
      "of a user of an own namespace",
      (world) => ({ apiKeyId: world.apiKey([OWN]) }),
      [NO_API_KEY, NO_API_KEY, OK, NO_API_KEY, OK, OK],
    ],
    [
      "of a user of another one",
      (world) => ({ apiKeyId: world.apiKey([OTHER]) }),
      [NO_API_KEY, NO_API_KEY, NO_API_KEY, NO_API_KEY, OK, OK],
    ],
    ["that is none", () => ({ apiKeyId: randomUUID() }), same(NO_API_KEY)],
  ],
  "AccountService/GetUsage": [["of what the caller may see", () => ({}), same(OK)]],
  "ClusterService/GetCluster": [["anybody with a token", () => ({}), same(OK)]],
  "ClusterAdminService/GetStatus": CLUSTER_ADMIN(() => ({})),
  "ClusterAdminService/ListMembers": CLUSTER_ADMIN(() => ({})),
  "ClusterAdminService/GetMemberCounters": CLUSTER_ADMIN(() => ({})),
  "ClusterAdminService/GetSettings": CLUSTER_ADMIN(() => ({})),
  "ClusterAdminService/Bootstrap": ON_ADMIN_PORT,
  "ClusterAdminService/AddMember": CLUSTER_ADMIN(() => ({ name: randomUUID() })),
  "ClusterAdminService/PromoteMembers": CLUSTER_ADMIN(() => ({ ids: ["999"] }), "NOT_FOUND MEMBER_NOT_FOUND"),
  "ClusterAdminService/RemoveMembers": CLUSTER_ADMIN(() => ({ ids: ["999"] }), "NOT_FOUND MEMBER_NOT_FOUND"),
  "ClusterAdminService/TransferLeadership": CLUSTER_ADMIN((world) => ({ targetId: world.memberId })),
  "ClusterAdminService/PutSettings": CLUSTER_ADMIN(() => ({ values: new Map([["token.lifetime_secs", "3600"]]) })),
  "ClusterAdminService/RotateKeys": CLUSTER_ADMIN(() => ({})),
  "ClusterAdminService/ResetOwner": ON_ADMIN_PORT,
  "ClusterAdminService/Snapshot": ON_ADMIN_PORT,
  "ClusterAdminService/StartBackup": ON_ADMIN_PORT,
  "ClusterAdminService/GetBackupStatus": [
    ...CLUSTER_ADMIN(() => ({})),
    ...CLUSTER_ADMIN(() => ({ memberId: "999" }), "NOT_FOUND MEMBER_NOT_FOUND"),
    ...CLUSTER_ADMIN(() => ({ memberId: "x" }), BAD_FIELD),
  ],
  "ClusterAdminService/ListBackups": [
    ...CLUSTER_ADMIN(() => ({}), "FAILED_PRECONDITION NO_BACKUP_STORE"),
    ...CLUSTER_ADMIN(() => ({ clusterId: randomUUID() }), BAD_FIELD),
  ],
  "ClusterAdminService/Compact": CLUSTER_ADMIN(() => ({ revision: 1n })),
  "Health/Check": [["anybody", () => ({ service: "" }), same(OK)]],
  "Health/List": [["anybody", () => ({}), same(OK)]],
  "Health/Watch": [["anybody", () => ({ service: "" }), same(OK)]],
};

/** Methods that need no token, or are refused before the check of the token. */
const NO_TOKEN = ["ExchangeToken", "Login", "VerifyEmail", "RequestPasswordReset"].map(
  (name) => `AccountService/${name}`,
);
const OPEN_TO_ALL = Object.entries(TABLE)
  .filter(([method, rows]) => method.startsWith("Health/") || NO_TOKEN.includes(method) || rows === ON_ADMIN_PORT)
  .map(([method]) => method);

const METHODS = methodsByName([...Object.values(serviceDefinitions), healthService as ServiceDefinition], (path) =>
  path.split(/[./]/).slice(-2).join("/"),
);

function newUser(namespaces: readonly string[], role: UserRole = UserRole.MEMBER): Fields {
  return { email: `${randomUUID()}@quoin.local`, role, namespaces };
}

/** The contents of the cluster. */
class World {
  readonly actors: Actors;
  readonly memberId: string;
  readonly #owner: GrpcCaller;
  readonly #namespaces = new Set<string>();

  constructor({ member }: GrpcPorts, actors: Actors, owner: GrpcCaller) {
    this.actors = actors;
    this.memberId = String(member.memberId);
    this.#owner = owner;
    for (const namespace of [OWN, OTHER]) {
      actors.do({ kind: "create-namespace", namespace });
    }
  }

  /** An actor of this column, who may also name a namespace after itself. */
  actor(role: Role, isOfAll: boolean): Promise<Actor> {
    const userId = randomUUID();
    return this.actors.add(role, isOfAll ? ["*"] : [OWN, COVERED_ONLY, userId], userId);
  }

  /** Creates the namespace if this world never did. */
  namespace(namespace: string): string {
    if (!this.#namespaces.has(namespace)) {
      this.#namespaces.add(namespace);
      this.actors.do({ kind: "create-namespace", namespace });
    }
    return namespace;
  }

  /** The name of a key. */
  key(namespace: string, isThere: boolean): string {
    const key = randomUUID();
    if (isThere) {
      const fields = { value: Buffer.from("v"), ttlSeconds: 0, expectedModRevision: undefined, returnPrevious: false };
      this.actors.do({ kind: "put-key", namespace, key: Buffer.from(key), ...fields });
    }
    return key;
  }

  /** The name of a free lock. */
  lock(namespace: string, mode: LockMode, isThere: boolean): string {
    const name = randomUUID();
    if (isThere && mode === "permits") {
      this.actors.do({ kind: "create-semaphore", namespace, name, permits: 2, ttlSeconds: 30 });
    } else if (isThere) {
      const rw = mode !== "exclusive";
      this.actors.do({ kind: "create-lock", namespace, name, rw, ttlSeconds: 30, lockDelaySeconds: 0 });
    }
    return name;
  }

  /** A lock with a hold, by default of the owner. */
  heldLock(namespace: string, mode: LockMode, holder?: Actor): { readonly name: string; readonly token: number } {
    const name = this.lock(namespace, mode, true);
    const acquisition: AcquireLock = {
      kind: "acquire-lock",
      namespace,
      name,
      mode,
      ttlSeconds: 0,
      owner: "",
      waitMs: 0,
      fencingToken: 0,
      ...(mode === "permits" && { permits: 1 }),
    };
    const { hold } = this.actors.do(acquisition, holder);
    return { name, token: hold?.token ?? expect.fail("expected a free lock") };
  }

  /** The id of a region of one byte. */
  region(namespace: string): string {
    const { regionId } = this.actors.do({ kind: "allocate-memory", namespace, sizeBytes: 1, label: "" });
    return derivedIdText(regionId);
  }

  /** The id of a new session, by default of the owner. */
  session(namespace: string, creator?: Actor): bigint {
    const fields = { ttlSeconds: 3_600, owner: "", metadata: new Uint8Array(0) };
    return BigInt(this.actors.do({ kind: "create-session", namespace, ...fields }, creator).sessionId);
  }

  /** The id of a new log, by default of the owner. */
  log(namespace: string, creator?: Actor): string {
    const settings = { duplicateWindowSecs: null, retentionMaxAgeSecs: null, retentionMaxBytes: null };
    const { log } = this.actors.do({ kind: "create-log", name: randomUUID(), namespace, settings }, creator);
    return derivedIdText(log.logId);
  }

  /** The id of a new member of the namespaces. */
  user(namespaces: readonly string[]): string {
    const userId = randomUUID();
    this.actors.do(createUser(userId, { role: "member", namespaces }));
    this.actors.verify(userId);
    return userId;
  }

  /** The id of an API key of such a user. */
  apiKey(namespaces: readonly string[]): string {
    return this.actors.apiKey(this.user(namespaces)).apiKeyId;
  }

  /** The token of the second page of the namespace's keys. */
  async keysPageToken(namespace: string): Promise<string> {
    this.key(namespace, true);
    this.key(namespace, true);
    const request = { namespace, prefix: "", pageSize: 1, pageToken: "", keysOnly: true, consistency: LINEARIZABLE };
    const { response } = await this.#owner.call(serviceDefinitions.KeyValueService.listKeys, request);
    return response?.nextPageToken || expect.fail("two keys are two pages");
  }

  /** The token of the second page of the namespace's sessions. */
  async sessionsPageToken(namespace: string): Promise<string> {
    this.session(namespace);
    this.session(namespace);
    const request = { namespace, pageSize: 1, pageToken: "", consistency: LINEARIZABLE };
    const { response } = await this.#owner.call(serviceDefinitions.SessionService.listSessions, request);
    return response?.nextPageToken || expect.fail("two sessions are two pages");
  }

  /** The token of the second page of the namespace's regions. */
  async regionsPageToken(namespace: string): Promise<string> {
    this.region(namespace);
    this.region(namespace);
    const request = { namespace, pageSize: 1, pageToken: "", consistency: LINEARIZABLE };
    const { response } = await this.#owner.call(serviceDefinitions.MemoryService.listMemoryRegions, request);
    return response?.nextPageToken || expect.fail("two regions are two pages");
  }
}

describe("access by gRPC", function () {
  this.timeout(METHOD_MS_MAX);
  let ports: GrpcPorts;
  let world: World;
  let anybody: GrpcCaller;

  before(async () => {
    ports = await GrpcPorts.founded();
    ports.publicServer.setServing(true);
    const { member, replica } = ports;
    const actors = new Actors(member.cluster, replica, member.access());
    anybody = ports.owner;
    world = new World(ports, actors, anybody);
  });

  after(async () => {
    await ports.close();
    expect(ports.reported).deep.equal([]);
  });

  /** OK, or the status with its reason. For a stream, the first message or the error. */
  async function answerOf(name: string, fields: Fields, token: string | null, caller = anybody): Promise<string> {
    const method = METHODS.get(name) as AnyMethod;
    const request = encodedRequest(method, fields);
    const options = { metadata: new Map([["authorization", token === null ? null : `Bearer ${token}`]]) };
    const said = ({ code, reason }: { readonly code: string; readonly reason: string }) => `${code} ${reason}`.trim();
    if (!method.responseStream) {
      return said(await caller.call(method, request, options));
    }
    const stream = caller.stream(method, request, options);
    await stream.begun();
    stream.cancel();
    return stream.messages.length > 0 || stream.end === null ? OK : said(stream.end);
  }

  it("is in the table for each method of the contract", () => {
    const { file: files } = fromBinary(FileDescriptorSetSchema, readDescriptorSet());
    const methods = files.flatMap(({ service: services }) =>
      services.flatMap(({ name, method }) => method.map((each) => `${name}/${each.name}`)),
    );
    expect(Object.keys(TABLE)).have.members(methods);
    expect([...METHODS.keys()]).have.members(methods);
  });

  for (const [method, rows] of Object.entries(TABLE)) {
    describe(method, () => {
      const actors: Actor[] = [];

      before(async () => {
        for (const [, role, isOfAll] of COLUMNS) {
          actors.push(await world.actor(role, isOfAll));
        }
      });

      for (const [at, [what, ask, expected]] of rows.entries()) {
        it(`${at + 1}. ${what}: ${COLUMNS.map(([who], column) => `${who} ${expected[column]}`).join(", ")}`, async () => {
          const answers: string[] = [];
          for (const actor of actors) {
            answers.push(await answerOf(method, await ask(world, actor), actor.token));
          }
          expect(answers).deep.equal(expected);
        });
      }

      if (OPEN_TO_ALL.includes(method)) {
        it("does not check the token", async () => {
          const [, ask, [expected]] = rows[0] as Row;
          const fields = await ask(world, actors[0] as Actor);
          expect([await answerOf(method, fields, null), await answerOf(method, fields, "not-a-token")]).deep.equal([
            expected,
            expected,
          ]);
        });
        return;
      }

      it("refuses every request without a token, or with one that is no longer valid", async () => {
        const { actors: users } = world;
        const revoked = await world.actor("owner", true);
        const disabled = await world.actor("owner", true);
        const deleted = await world.actor("owner", true);
        users.do({ kind: "revoke-api-key", apiKeyId: revoked.apiKeyId });
        users.do(updateUser(disabled.subject, { status: "disabled" }));
        users.do({ kind: "delete-user", userId: deleted.subject });
        for (const [what, ask] of rows) {
          const fields = await ask(world, actors.at(-1) as Actor);
          const answers = [
            await answerOf(method, fields, null),
            await answerOf(method, fields, "not-a-token"),
            await answerOf(method, fields, revoked.token),
            await answerOf(method, fields, disabled.token),
            await answerOf(method, fields, deleted.token),
          ];
          const [invalid, gone] = ["UNAUTHENTICATED TOKEN_INVALID", "UNAUTHENTICATED TOKEN_REVOKED"];
          expect(answers, what).deep.equal([invalid, invalid, gone, gone, gone]);
        }
      });

      it("allows only what both the token and the user's record allow", async () => {
        const asViewer = await world.actor("viewer", false);
        const asOwner = await world.actor("owner", true);
        const lowered: Actor = { ...asOwner, role: "viewer", namespaces: [OWN, COVERED_ONLY, asOwner.subject] };
        const raised: Actor = { ...asViewer, role: "owner", namespaces: ["*"] };
        for (const { subject, role, namespaces } of [lowered, raised]) {
          world.actors.do(updateUser(subject, { role, namespaces }));
        }
        for (const [what, ask, [expected]] of rows) {
          const answers = [
            await answerOf(method, await ask(world, lowered), lowered.token),
            await answerOf(method, await ask(world, raised), raised.token),
          ];
          expect(answers, what).deep.equal([expected, expected]);
        }
      });
    });
  }

  it("is given by the admin token on the admin port, not by a user", async () => {
    const owner = await world.actor("owner", true);
    for (const method of [...METHODS.keys()].filter((name) => name.startsWith("ClusterAdminService/"))) {
      expect(await answerOf(method, {}, owner.token, ports.admin), method).equal("UNAUTHENTICATED TOKEN_INVALID");
    }
  });
});
