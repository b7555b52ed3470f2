import { expect } from "chai";
import fc from "fast-check";
import { createApiKey, createUser, itNoticesDamage, requestOf, updateUser } from "../../../test/index.ts";
import {
  type ClientOperation,
  type ClusterOperation,
  type Command,
  decodeCommand,
  encodeCommand,
  isGrowing,
} from "../index.ts";

const text = fc.string({ unit: "grapheme", maxLength: 12 }).filter((value) => value.isWellFormed());
const hash = fc.uint8Array({ minLength: 32, maxLength: 32 });
const count = fc.maxSafeNat();
const role = fc.constantFrom("viewer" as const, "member" as const, "admin" as const, "owner" as const);
const namespaces = fc.array(fc.oneof(text, fc.constantFrom("*", "__proto__")), { maxLength: 3 });
const request = fc.option(fc.record({ requestId: fc.uint8Array({ minLength: 16, maxLength: 16 }), payloadHash: hash }));

const operation: fc.Arbitrary<ClientOperation> = fc.oneof(
  fc.record({
    kind: fc.constant("create-api-key" as const),
    apiKeyId: text,
    name: text,
    prefix: text,
    sha256: hash,
    lifetimeMs: count,
  }),
  fc.record({ kind: fc.constant("revoke-api-key" as const), apiKeyId: text }),
  fc.record({
    kind: fc.constant("create-user" as const),
    userId: text,
    email: text,
    role,
    namespaces,
    passwordHash: text,
    tokenSha256: hash,
    tokenLifetimeMs: count,
  }),
  fc.record({
    kind: fc.constant("update-user" as const),
    userId: text,
    role: fc.option(role),
    namespaces: fc.option(namespaces),
    status: fc.option(fc.constantFrom("active" as const, "disabled" as const)),
    passwordHash: fc.option(text),
    knownPasswordVersion: fc.option(fc.maxSafeNat()),
  }),
  fc.record({ kind: fc.constant("delete-user" as const), userId: text }),
);
const clusterOperation: fc.Arbitrary<ClusterOperation> = fc.oneof(
  fc.record({ kind: fc.constant("verify-user" as const), userId: text, tokenSha256: hash, passwordHash: text }),
  fc.record({
    kind: fc.constant("put-settings" as const),
    values: fc.array(fc.record({ name: text, value: text }), { maxLength: 3 }),
    ifRevision: count,
    subject: text,
    request,
  }),
  fc.record({
    kind: fc.constant("rotate-signing-key" as const),
    kid: text,
    publicKey: hash,
    privateKey: hash,
    ifKid: text,
    subject: text,
    request,
  }),
  fc.record({
    kind: fc.constant("reset-owner" as const),
    userId: text,
    email: text,
    passwordHash: text,
    subject: text,
    request,
    apiKey: fc.option(fc.record({ apiKeyId: text, prefix: text, sha256: hash })),
  }),
  fc.constant({ kind: "drop-signing-keys" as const }),
  fc.record({
    kind: fc.constant("report-use" as const),
    uses: fc.array(
      fc.record({
        principal: fc.record({ subject: text, apiKeyId: text }),
        requests: count,
        kvOperations: count,
        lockOperations: count,
        memoryOperations: count,
      }),
      { maxLength: 3 },
    ),
  }),
  fc.record({ kind: fc.constant("prune-usage" as const), countMax: fc.nat() }),
);
const command: fc.Arbitrary<Command> = fc.oneof(
  fc.record({ principal: fc.record({ subject: text, apiKeyId: text }), request: fc.constant(null), operation }),
  clusterOperation.map((each) => ({ principal: null, request: null, operation: each })),
);

const OWNED = { subject: "u", apiKeyId: "k" };

function byUser(each: ClientOperation): Command {
  return { principal: OWNED, request: null, operation: each };
}

function byCluster(each: ClusterOperation): Command {
  return { principal: null, request: null, operation: each };
}

/** The bytes between the kind and the operation of every command of a user. */
const ASKED = "0000000175 000000016b";
const TOKEN = "77".repeat(32);

describe("commands about accounts", () => {
  it("come back as written, of every kind", () => {
    const kinds = new Set<string>();
    fc.assert(
      fc.property(command, (written) => {
        kinds.add(written.operation.kind);
        expect(decodeCommand(encodeCommand(written))).deep.equal(written);
      }),
      { numRuns: 500 },
    );
    expect(kinds.size).equal(12);
  });

  // These bytes are in the logs of every member: a change here changes the storage format.
  for (const [name, written, golden] of [
    [
      "create-api-key",
      byUser({ ...createApiKey("a", 9), name: "n" }),
      `013c ${ASKED} 0000000161 000000016e 0000000b716b5f3030303030303061 ${"01".repeat(32)} 0000000000000009`,
    ],
    ["revoke-api-key", byUser({ kind: "revoke-api-key", apiKeyId: "a" }), `013d ${ASKED} 0000000161`],
    [
      "create-user",
      byUser(createUser("a", { email: "e", role: "admin", namespaces: ["x", "*"], passwordHash: "p" })),
      `013e ${ASKED} 0000000161 0000000165 02 00000002 0000000178 000000012a 0000000170 ${TOKEN} 000000000000ea60`,
    ],
    ["update-user of nothing", byUser(updateUser("a")), `013f ${ASKED} 0000000161 00 00 00 00 00 0000000000000000`],
    [
      "update-user of everything",
      byUser(
        updateUser("a", {
          role: "owner",
          namespaces: ["*"],
          status: "disabled",
          passwordHash: "p",
          knownPasswordVersion: 7,
        }),
      ),
      `013f ${ASKED} 0000000161 01 03 01 00000001 000000012a 01 02 01 0000000170 01 0000000000000007`,
    ],
    ["delete-user", byUser({ kind: "delete-user", userId: "a" }), `0140 ${ASKED} 0000000161`],
    [
      "verify-user",
      byCluster({ kind: "verify-user", userId: "a", tokenSha256: new Uint8Array(32).fill(0x77), passwordHash: "p" }),
      `0141 0000000161 ${TOKEN} 0000000170`,
    ],
    [
      "put-settings",
      byCluster({
        kind: "put-settings",
        values: [{ name: "n", value: "v" }],
        ifRevision: 3,
        subject: "s",
        request: requestOf(1, 2),
      }),
      `0143 00000001 000000016e 0000000176 0000000000000003 0000000173 01 00000001${"00".repeat(12)}` +
        `00000002${"00".repeat(28)}`,
    ],
    [
      "rotate-signing-key",
      byCluster({
        kind: "rotate-signing-key",
        kid: "k",
        publicKey: new Uint8Array(32).fill(1),
        privateKey: new Uint8Array(32).fill(2),
        ifKid: "o",
        subject: "s",
        request: null,
      }),
      `0144 000000016b ${"01".repeat(32)} ${"02".repeat(32)} 000000016f 0000000173 00`,
    ],
    [
      "reset-owner",
      byCluster({
        kind: "reset-owner",
        userId: "u",
        email: "e",
        passwordHash: "p",
        subject: "s",
        request: null,
        apiKey: { apiKeyId: "k", prefix: "q", sha256: new Uint8Array(32).fill(2) },
      }),
      `0147 0000000175 0000000165 0000000170 01 000000016b 0000000171 ${"02".repeat(32)} 0000000173 00`,
    ],
    ["drop-signing-keys", byCluster({ kind: "drop-signing-keys" }), "0145"],
    [
      "report-use",
      byCluster({
        kind: "report-use",
        uses: [{ principal: OWNED, requests: 1, kvOperations: 2, lockOperations: 3, memoryOperations: 4 }],
      }),
      `0142 00000001 ${ASKED} ${[1, 2, 3, 4].map((value) => value.toString().padStart(16, "0")).join(" ")}`,
    ],
    ["prune-usage", byCluster({ kind: "prune-usage", countMax: 512 }), "0146 00000200"],
  ] as const) {
    it(`have these bytes: ${name}`, () => {
      expect(encodeCommand(written).toHex()).equal(golden.replaceAll(" ", ""));
    });
  }

  itNoticesDamage(command);

  it("P45: are refused on a full disk if they create accounts, and not if they end or change them", () => {
    const growing = [byUser(createApiKey("a")), byUser(createUser("a"))];
    const others = [
      ...[byUser({ kind: "revoke-api-key", apiKeyId: "a" }), byUser(updateUser("a"))],
      ...[byUser({ kind: "delete-user", userId: "a" }), byCluster({ kind: "drop-signing-keys" })],
    ];
    expect(growing.map(isGrowing)).deep.equal([true, true]);
    expect(others.map(isGrowing)).deep.equal([false, false, false, false]);
  });
});
