import { randomUUID } from "node:crypto";
import { Guard, type MessageCodec, RWMode, serviceDefinitions, UserRole, UserStatus } from "@quoin/proto";
import { expect } from "chai";
import { type Answer, type AnyMethod, encodedRequest, GrpcPorts, methodsByName } from "../../../test/harness/index.ts";

/** Fields of a message by their TypeScript names. */
type Fields = Readonly<Record<string, unknown>> & { readonly guard?: unknown };

/** A request of a mutation, and other values of each of its fields. */
interface Mutation {
  readonly request: Fields;
  /** No value: the field does not belong to what is asked. */
  readonly others: Readonly<Record<string, readonly unknown[]>>;
}

/** Methods whose answers are not stored. */
const NOT_STORED = new Set([
  ...[
    "GetKey",
    "ListKeys",
    "CountKeys",
    "DescribeLock",
    "DescribeRWLock",
    "DescribeSemaphore",
    "DescribeSession",
    "ListSessions",
    "DescribeMemory",
    "ReadMemory",
    "ListMemoryRegions",
  ],
  ...["WatchKeys", "WatchLocks", "GetCluster", "GetStatus", "ListMembers", "Snapshot"],
  ...["GetBackupStatus", "ListBackups", "ListNamespaces", "ListKeyVersions", "ListLocks", "ListLockWaits"],
  ...["ListStreams", "GetMemberCounters", "GetSettings", "GetLog", "ListLogs", "ReadEvents", "TailEvents"],
  ...[
    "ExchangeToken",
    "Login",
    "VerifyEmail",
    "RequestPasswordReset",
    "GetUser",
    "ListUsers",
    "ListApiKeys",
    "GetUsage",
  ],
  // A member knows its backups by the request id, and stores nothing of it in the log.
  "StartBackup",
  // Served on a port that needs no request id, and idempotent.
  "Bootstrap",
  // Served on the admin port only; the spec of its retries is next to it.
  "ResetOwner",
  // One that runs again only renews again.
  "RenewSessions",
  // Not in the log: its condition makes it safe to repeat.
  "TransferLeadership",
]);

const bytes = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text));
const REGION = "018a0000-0000-8000-8001-000000000009";
const GUARD = { lockName: "g", fencingToken: 5n, rw: true, sessionId: undefined };
const BY_SESSION = { lockName: "", fencingToken: 0n, rw: false, sessionId: 5n };
const NAMESPACE = ["other"];
const KEY = ["other"];
const GUARDS = [
  undefined,
  { ...GUARD, lockName: "other" },
  { ...GUARD, fencingToken: 6n },
  { ...GUARD, rw: false },
  BY_SESSION,
] as const;
const APPEND_GUARD = { namespace: "default", ...GUARD };
const APPEND_GUARDS = [
  undefined,
  { ...APPEND_GUARD, lockName: "other" },
  { ...APPEND_GUARD, fencingToken: 6n },
  { ...APPEND_GUARD, rw: false },
  { ...APPEND_GUARD, ...BY_SESSION },
] as const;
const USER = "018a0000-0000-4000-8000-000000000009";
/** In place of the ids of two logs, which depend on the cluster and have the same length. */
const LOG = "00000000-0000-8000-8100-000000000001";
const OTHER_LOG = "00000000-0000-8000-8100-000000000002";
const SECONDS = [0n, 8n];
const REVISIONS = [undefined, 0n, 10n];
const TOKENS = [0n, 4n];
const SESSIONS = [0n, 8n];
const OWNERS = ["", "other"];

/** Every mutation, each with all its fields set. */
const MUTATIONS: Readonly<Record<string, Mutation>> = {
  CreateNamespace: { request: { namespace: "prod" }, others: { namespace: NAMESPACE } },
  DeleteNamespace: {
    request: { namespace: "prod", recursive: true },
    others: { namespace: NAMESPACE, recursive: [false] },
  },
  PutKey: {
    request: {
      namespace: "default",
      key: "k",
      value: bytes("v"),
      ttlSeconds: 9n,
      expectedModRevision: 9n,
      returnPrevious: true,
      guard: GUARD,
      sessionId: 9n,
    },
    others: {
      namespace: NAMESPACE,
      key: KEY,
      value: [bytes(""), bytes("w"), bytes("vv")],
      ttlSeconds: SECONDS,
      expectedModRevision: REVISIONS,
      returnPrevious: [false],
      guard: GUARDS,
      sessionId: SESSIONS,
    },
  },
  DeleteKey: {
    request: { namespace: "default", key: "k", expectedModRevision: 9n, returnPrevious: true, guard: GUARD },
    others: {
      namespace: NAMESPACE,
      key: KEY,
      expectedModRevision: REVISIONS,
      returnPrevious: [false],
      guard: GUARDS,
    },
  },
  CompareAndSwap: {
    request: {
      namespace: "default",
      key: "k",
      expectedValue: bytes("v"),
      newValue: bytes("w"),
      expectedModRevision: 9n,
      ttlSeconds: 9n,
      guard: GUARD,
      sessionId: 9n,
    },
    others: {
      namespace: NAMESPACE,
      key: KEY,
      expectedValue: [undefined, bytes(""), bytes("x")],
      newValue: [bytes(""), bytes("x")],
      expectedModRevision: REVISIONS,
      ttlSeconds: SECONDS,
      guard: GUARDS,
      sessionId: SESSIONS,
    },
  },
  TouchKey: {
    request: { namespace: "default", key: "k", ttlSeconds: 9n, expectedModRevision: 9n, guard: GUARD },
    others: {
      namespace: NAMESPACE,
      key: KEY,
      ttlSeconds: SECONDS,
      expectedModRevision: REVISIONS,
      guard: GUARDS,
    },
  },
  Transact: {
    request: {
      namespace: "default",
      compare: [{ key: { key: "k", exists: true } }],
      success: [{ put: { key: "k", value: bytes("v") } }],
      failure: [{ get: { key: "k" } }],
      guard: GUARD,
    },
    others: {
      namespace: NAMESPACE,
      compare: [[], [{ key: { key: "k", exists: false } }]],
      success: [
        [],
        [{ put: { key: "k", value: bytes("w") } }],
        [{ put: { key: "k", value: bytes("v"), ttlSeconds: 1n } }],
      ],
      failure: [[], [{ get: { key: "l" } }]],
      guard: GUARDS,
    },
  },
  CreateLock: {
    request: { namespace: "default", name: "l", ttlSeconds: 9n, lockDelaySeconds: 9n },
    others: { namespace: NAMESPACE, name: KEY, ttlSeconds: SECONDS, lockDelaySeconds: SECONDS },
  },
  CreateRWLock: {
    request: { namespace: "default", name: "l", ttlSeconds: 9n, lockDelaySeconds: 9n },
    others: { namespace: NAMESPACE, name: KEY, ttlSeconds: SECONDS, lockDelaySeconds: SECONDS },
  },
  AcquireLock: {
    request: {
      namespace: "default",
      name: "l",
      ttlSeconds: 9n,
      owner: "o",
      waitMs: 9n,
      fencingToken: 5n,
      sessionId: 9n,
      value: bytes("v"),
    },
    others: {
      namespace: NAMESPACE,
      name: KEY,
      ttlSeconds: SECONDS,
      owner: OWNERS,
      value: [bytes(""), bytes("x")],
      waitMs: SECONDS,
      fencingToken: TOKENS,
      sessionId: SESSIONS,
    },
  },
  AcquireRWLock: {
    request: {
      namespace: "default",
      name: "l",
      mode: RWMode.WRITE,
      ttlSeconds: 9n,
      owner: "o",
      waitMs: 9n,
      fencingToken: 5n,
      sessionId: 9n,
    },
    others: {
      namespace: NAMESPACE,
      name: KEY,
      mode: [RWMode.READ],
      ttlSeconds: SECONDS,
      owner: OWNERS,
      waitMs: SECONDS,
      fencingToken: TOKENS,
      sessionId: SESSIONS,
    },
  },
  ReleaseLock: {
    request: { namespace: "default", name: "l", owner: "o", fencingToken: 5n },
    others: { namespace: NAMESPACE, name: KEY, owner: OWNERS, fencingToken: TOKENS },
  },
  ReleaseRWLock: {
    request: { namespace: "default", name: "l", mode: RWMode.WRITE, owner: "o", fencingToken: 5n },
    others: {
      namespace: NAMESPACE,
      name: KEY,
      mode: [RWMode.RW_MODE_UNSPECIFIED, RWMode.READ],
      owner: OWNERS,
      fencingToken: TOKENS,
    },
  },
  ForceReleaseLock: {
    request: { namespace: "default", name: "l", fencingToken: 5n, reason: "why", rw: true },
    others: { namespace: NAMESPACE, name: KEY, fencingToken: TOKENS, reason: OWNERS, rw: [false] },
  },
  DeleteLock: {
    request: { namespace: "default", name: "l", force: true },
    others: { namespace: NAMESPACE, name: KEY, force: [false] },
  },
  DeleteRWLock: {
    request: { namespace: "default", name: "l", force: true },
    others: { namespace: NAMESPACE, name: KEY, force: [false] },
  },
  SetLockValue: {
    request: { namespace: "default", name: "l", fencingToken: 5n, owner: "o", value: bytes("v") },
    others: {
      namespace: NAMESPACE,
      name: KEY,
      fencingToken: [4n, 6n],
      owner: OWNERS,
      value: [bytes(""), bytes("x")],
    },
  },
  CreateSemaphore: {
    request: { namespace: "default", name: "l", permits: 9, ttlSeconds: 9n },
    others: { namespace: NAMESPACE, name: KEY, permits: [8, 10], ttlSeconds: SECONDS },
  },
  AcquireSemaphore: {
    request: {
      namespace: "default",
      name: "l",
      permits: 9,
      ttlSeconds: 9n,
      owner: "o",
      waitMs: 9n,
      fencingToken: 5n,
      sessionId: 9n,
    },
    others: {
      namespace: NAMESPACE,
      name: KEY,
      permits: [8, 10],
      ttlSeconds: SECONDS,
      owner: OWNERS,
      waitMs: [0n, 8n],
      fencingToken: TOKENS,
      sessionId: SESSIONS,
    },
  },
  ReleaseSemaphore: {
    request: { namespace: "default", name: "l", owner: "o", fencingToken: 5n },
    others: { namespace: NAMESPACE, name: KEY, owner: OWNERS, fencingToken: TOKENS },
  },
  UpdateSemaphore: {
    request: { namespace: "default", name: "l", permits: 9 },
    others: { namespace: NAMESPACE, name: KEY, permits: [8, 10] },
  },
  DeleteSemaphore: {
    request: { namespace: "default", name: "l", force: true },
    others: { namespace: NAMESPACE, name: KEY, force: [false] },
  },
  CreateSession: {
    request: { namespace: "default", ttlSeconds: 9n, owner: "o", metadata: bytes("m") },
    others: { namespace: NAMESPACE, ttlSeconds: [8n], owner: OWNERS, metadata: [bytes(""), bytes("n")] },
  },
  EndSession: {
    request: { namespace: "default", sessionId: 9n, force: true },
    others: { namespace: NAMESPACE, sessionId: [8n], force: [false] },
  },
  AllocateMemory: {
    request: { namespace: "default", sizeBytes: 9n, label: "l" },
    others: { namespace: NAMESPACE, sizeBytes: [8n], label: OWNERS },
  },
  ResizeMemory: {
    request: { namespace: "default", regionId: REGION, sizeBytes: 9n, expectedVersion: 9n, guard: GUARD },
    others: {
      namespace: NAMESPACE,
      regionId: [REGION.replace("9", "a").replace("018a", "018b")],
      sizeBytes: [8n],
      expectedVersion: [undefined, 10n],
      guard: GUARDS,
    },
  },
  FreeMemory: {
    request: { namespace: "default", regionId: REGION, expectedVersion: 9n, guard: GUARD },
    others: {
      namespace: NAMESPACE,
      regionId: [REGION.replace("018a", "018b")],
      expectedVersion: [undefined, 10n],
      guard: GUARDS,
    },
  },
  WriteMemory: {
    request: {
      namespace: "default",
      regionId: REGION,
      offset: 9n,
      data: bytes("d"),
      expectedVersion: 9n,
      guard: GUARD,
    },
    others: {
      namespace: NAMESPACE,
      regionId: [REGION.replace("018a", "018b")],
      offset: SECONDS,
      data: [bytes(""), bytes("e")],
      expectedVersion: [undefined, 10n],
      guard: GUARDS,
    },
  },
  AddMember: {
    request: { name: "n4", ifConfigIndex: 9n },
    others: { name: ["n5"], ifConfigIndex: [0n, 8n] },
  },
  PromoteMembers: {
    request: { ids: ["4", "5"], ifConfigIndex: 9n },
    others: { ids: [["4"], ["5", "4"], ["4", "6"]], ifConfigIndex: [0n, 8n] },
  },
  RemoveMembers: {
    request: { ids: ["4", "5"], ifConfigIndex: 9n },
    others: { ids: [["4"], ["5", "4"], ["4", "6"]], ifConfigIndex: [0n, 8n] },
  },
  PutSettings: {
    request: {
      values: new Map([
        ["token.lifetime_secs", "3600"],
        ["queue.duplicate_window_secs", "60"],
      ]),
      ifSettingsRevision: 9n,
    },
    others: {
      values: [
        new Map([["token.lifetime_secs", "3600"]]),
        new Map([
          ["token.lifetime_secs", "3601"],
          ["queue.duplicate_window_secs", "60"],
        ]),
      ],
      ifSettingsRevision: [0n, 8n],
    },
  },
  CreateLog: {
    request: {
      name: "l",
      namespace: "default",
      settings: new Map([
        ["retention.max_bytes", 9n],
        ["queue.duplicate_window_secs", 60n],
      ]),
    },
    others: {
      name: KEY,
      namespace: NAMESPACE,
      settings: [new Map([["retention.max_bytes", 9n]]), new Map([["retention.max_bytes", 8n]])],
    },
  },
  UpdateLog: {
    request: {
      logId: LOG,
      settings: new Map([["retention.max_bytes", 9n]]),
      unsetSettings: ["retention.max_age_secs"],
    },
    others: {
      logId: [OTHER_LOG],
      settings: [new Map(), new Map([["retention.max_bytes", 8n]])],
      unsetSettings: [[], ["queue.duplicate_window_secs"]],
    },
  },
  DeleteLog: { request: { logId: LOG }, others: { logId: [OTHER_LOG] } },
  AppendEvent: {
    request: { logId: LOG, payload: bytes("p"), idempotencyKey: "k", expectedSequence: 9n, guard: APPEND_GUARD },
    others: {
      logId: [OTHER_LOG],
      payload: [bytes(""), bytes("q")],
      idempotencyKey: ["", "other"],
      expectedSequence: REVISIONS,
      guard: APPEND_GUARDS,
    },
  },
  AppendEvents: {
    request: {
      logId: LOG,
      payloads: [bytes("p"), bytes("q")],
      idempotencyKey: "k",
      expectedSequence: 9n,
      guard: APPEND_GUARD,
    },
    others: {
      logId: [OTHER_LOG],
      payloads: [[bytes("p")], [bytes("q"), bytes("p")], [bytes("pq")]],
      idempotencyKey: ["other"],
      expectedSequence: REVISIONS,
      guard: APPEND_GUARDS,
    },
  },
  CreateUser: {
    request: { email: "anna@quoin.local", password: "a password", role: UserRole.MEMBER, namespaces: ["a", "b"] },
    others: {
      email: ["ben@quoin.local"],
      password: [undefined, "another one"],
      role: [UserRole.VIEWER, UserRole.ADMIN],
      namespaces: [["a"], ["b", "a"]],
    },
  },
  UpdateUser: {
    request: {
      userId: USER,
      password: "a password",
      currentPassword: "another password",
      role: UserRole.MEMBER,
      namespaces: { names: ["a", "b"] },
      status: UserStatus.ACTIVE,
    },
    others: {
      userId: [USER.replace("9", "8")],
      password: [undefined, "another one"],
      // Proves who asks, as a token does.
      currentPassword: [],
      role: [UserRole.USER_ROLE_UNSPECIFIED, UserRole.ADMIN],
      namespaces: [undefined, { names: ["b", "a"] }],
      status: [UserStatus.USER_STATUS_UNSPECIFIED, UserStatus.DISABLED],
    },
  },
  DeleteUser: { request: { userId: USER }, others: { userId: [USER.replace("9", "8")] } },
  CreateApiKey: {
    request: { name: "k", expiresInDays: 9n },
    others: { name: ["other"], expiresInDays: [0n, 8n] },
  },
  RevokeApiKey: { request: { apiKeyId: USER }, others: { apiKeyId: [USER.replace("9", "8")] } },
  RotateKeys: { request: {}, others: {} },
  Compact: { request: { revision: 9n }, others: { revision: [8n] } },
};

const METHODS = methodsByName(Object.values(serviceDefinitions), (path) => path.split("/").at(-1) ?? "");

/** The encoded fields of a message, each with its tag. */
function fieldsOf(message: Uint8Array): Buffer[] {
  const fields: Buffer[] = [];
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let factor = 1; ; factor *= 0x80) {
      const byte = message[at++] as number;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) {
        return value;
      }
    }
  };
  while (at < message.length) {
    const from = at;
    const type = varint() & 7;
    const value = varint();
    at += type === 2 ? value : 0;
    fields.push(Buffer.from(message.subarray(from, at)));
  }
  return fields;
}

/** The first byte of a field's tag: its number and its type. */
function numberOf(field: Buffer): number {
  return field[0] as number;
}

/** A field of bytes, with other bytes of the same length. */
function within(field: Buffer, content: Buffer): Buffer {
  return Buffer.concat([Buffer.of(numberOf(field), content.length), content]);
}

/** An unknown number, and unknown bytes: fields 1000 and 1001. */
const UNKNOWN = [Buffer.of(0xc0, 0x3e, 0x07), Buffer.of(0xca, 0x3e, 0x01, 0x61)];

/** A field with other numbers in place of each of its own. */
function numbersInsteadOf(value: unknown): readonly unknown[] {
  if (typeof value === "bigint") {
    return [-1n, -(2n ** 53n - 1n), 2n ** 53n - 1n, -(2n ** 63n), 2n ** 63n - 1n];
  }
  if (typeof value === "number") {
    return [-1, -(2 ** 31), 2 ** 31 - 1];
  }
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value) || Array.isArray(value)) {
    return [];
  }
  if (value instanceof Map) {
    return [...value].flatMap(([key, content]) => numbersInsteadOf(content).map((number) => new Map([[key, number]])));
  }
  return Object.entries(value).flatMap(([name, content]) =>
    numbersInsteadOf(content).map((number) => ({ ...value, [name]: number })),
  );
}

describe("retries in other bytes (S13)", () => {
  let ports: GrpcPorts;
  let logs: Map<string, string>;

  before(async () => {
    ports = await GrpcPorts.founded();
  });

  beforeEach(async () => {
    logs = new Map();
    for (const placeholder of [LOG, OTHER_LOG]) {
      const request = { name: randomUUID(), namespace: "", settings: new Map() };
      const { response } = await ports.owner.call(serviceDefinitions.EventLogService.createLog, request);
      logs.set(placeholder, response?.log?.logId ?? expect.fail("no log"));
    }
  });

  after(() => ports.close());

  function send(method: AnyMethod, request: Buffer, requestId: string): Promise<Answer<unknown>> {
    let text = request.toString("latin1");
    for (const [placeholder, id] of logs) {
      text = text.replaceAll(placeholder, id);
    }
    return ports.owner.call(method, Buffer.from(text, "latin1"), { metadata: new Map([["request-id", requestId]]) });
  }

  const replayed = ({ headers, trailers }: Answer<unknown>) =>
    [...headers.get("replayed"), ...trailers.get("replayed")].map(String).at(0);

  /** Sends the first encoding, then the others with the same id; all must get the same answer. */
  async function expectSame(method: AnyMethod, first: Buffer, others: ReadonlyMap<string, Buffer>): Promise<void> {
    const id = randomUUID();
    const original = await send(method, first, id);
    expect(replayed(original), `${original.code} ${original.message}`).equal(undefined);
    for (const [name, other] of others) {
      const again = await send(method, other, id);
      expect([again.code, again.reason, replayed(again)], `${name}: ${again.message}`).deep.equal([
        ...[original.code, original.reason, "true"],
      ]);
    }
  }

  it("are tested for every mutation, and for every field of each", () => {
    const unary = [...METHODS.keys()].filter((name) => !NOT_STORED.has(name));
    expect(Object.keys(MUTATIONS).sort()).deep.equal(unary.sort());
    for (const [name, { request, others }] of Object.entries(MUTATIONS)) {
      const fields = Object.keys(METHODS.get(name)?.requestDeserialize(Buffer.alloc(0)) ?? {}).sort();
      expect(Object.keys(request).sort(), name).deep.equal(fields);
      expect(Object.keys(others).sort(), name).deep.equal(fields);
    }
    expect(Object.keys(GUARD)).deep.equal(Object.keys((Guard as MessageCodec<Guard>).decode(new Uint8Array(0))));
  });

  for (const [name, { request, others }] of Object.entries(MUTATIONS)) {
    const method = METHODS.get(name) as AnyMethod;

    it(`${name}: get the same answer for every encoding of the same request`, async () => {
      const bytes = encodedRequest(method, request);
      const fields = fieldsOf(bytes);
      const forms = new Map<string, Buffer>([
        ["the same bytes", bytes],
        ["fields in another order", Buffer.concat(fields.toSorted((one, other) => numberOf(other) - numberOf(one)))],
        ["fields that this version does not know", Buffer.concat([...UNKNOWN, bytes, ...UNKNOWN])],
      ]);
      for (const [field, values] of Object.entries(others)) {
        const isRepeated = Array.isArray(request[field]) || request[field] instanceof Map;
        for (const value of isRepeated ? [] : values) {
          const before = fieldsOf(encodedRequest(method, { [field]: value }));
          forms.set(`${field} twice, and the last counts`, Buffer.concat([...before, bytes]));
        }
      }
      if (request.guard !== undefined) {
        const [alone] = fieldsOf(encodedRequest(method, { guard: request.guard }));
        const at = fields.findIndex((field) => numberOf(field) === numberOf(alone as Buffer));
        const guard = fields[at] as Buffer;
        const content = Buffer.concat([...fieldsOf(guard.subarray(2)).toReversed(), ...UNKNOWN]);
        forms.set("fields of the guard in another order", Buffer.concat(fields.with(at, within(guard, content))));
      }
      await expectSame(method, bytes, forms);
    });

    it(`${name}: get the same answer whether a default is left out or encoded`, async () => {
      for (const [field, values] of Object.entries(others)) {
        const none = method.requestDeserialize(Buffer.alloc(0))[field];
        const value = values.at(-1);
        if (none === undefined || typeof value === "object") {
          continue;
        }
        // A request that waits for a lock has no answer yet.
        const patience = "waitMs" in request ? { waitMs: 0n } : {};
        const bytes = encodedRequest(method, { ...request, ...patience, [field]: none });
        const [set] = fieldsOf(encodedRequest(method, { [field]: request[field] }));
        const written = Buffer.concat([bytes, Buffer.of(numberOf(set as Buffer), 0)]);
        const first = await send(method, bytes, randomUUID());
        if (first.reason !== "BAD_FIELD" && first.reason !== "NAMESPACE_DENIED") {
          await expectSame(method, bytes, new Map([[field, written]]));
        }
      }
    });

    it(`${name}: are refused if any field has another value, or with another method`, async () => {
      const id = randomUUID();
      expect(replayed(await send(method, encodedRequest(method, request), id))).equal(undefined);
      const reused = ["INVALID_ARGUMENT", "REQUEST_ID_REUSED"];
      for (const [field, values] of Object.entries(others)) {
        expect(values.length > 0 || field === "currentPassword", field).equal(true);
        for (const [at, value] of values.entries()) {
          const answer = await send(method, encodedRequest(method, { ...request, [field]: value }), id);
          expect([answer.code, answer.reason], `${field}, other value ${at}: ${answer.message}`).deep.equal(reused);
        }
      }
      for (const [other, { request: fields }] of Object.entries(MUTATIONS)) {
        const elsewhere = METHODS.get(other) as AnyMethod;
        if (other !== name) {
          const answer = await send(elsewhere, encodedRequest(elsewhere, fields), id);
          expect([answer.code, answer.reason], `${other}: ${answer.message}`).deep.equal(reused);
        }
      }
      expect(replayed(await send(method, encodedRequest(method, request), id))).equal("true");
    });
  }

  it("have no number in any field of any mutation that ends the member (S17)", async () => {
    for (const [name, { request }] of Object.entries(MUTATIONS)) {
      const method = METHODS.get(name) as AnyMethod;
      for (const [field, value] of Object.entries(request)) {
        const numbers = numbersInsteadOf(value);
        for (const changed of numbers) {
          const patience = "waitMs" in request ? { waitMs: 0n } : {};
          const bytes = encodedRequest(method, { ...request, ...patience, [field]: changed });
          const { code } = await send(method, bytes, randomUUID());
          expect(code, `${name} ${field}`).not.oneOf(["INTERNAL", "UNKNOWN", "UNAVAILABLE", "DEADLINE_EXCEEDED"]);
        }
      }
    }
    expect(ports.reported).deep.equal([]);
  });

  it("PutSettings: get the same answer with the settings in another order, or one twice", async () => {
    const method = METHODS.get("PutSettings") as AnyMethod;
    const [one, other] = [
      ["token.lifetime_secs", "3600"],
      ["queue.duplicate_window_secs", "60"],
    ] as const;
    const bytes = (values: readonly (readonly [string, string])[]) =>
      Buffer.concat(values.map((value) => encodedRequest(method, { values: new Map([value]) })));
    const forms = new Map([
      ["order", bytes([other, one])],
      ["twice", bytes([[one[0], "1"], other, one])],
    ]);
    await expectSame(method, bytes([one, other]), forms);
  });
});
