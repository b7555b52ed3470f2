import { crc32 } from "node:zlib";
import { expect } from "chai";
import fc from "fast-check";
import { MemoryStateStore } from "../../../test/index.ts";
import { InvariantViolation } from "../../primitives/index.ts";
import { type Access, type ApiKey, apiKeyRow, type Role, Transaction, type User, userRow } from "../core/index.ts";
import {
  includesAccess,
  includesNamespace,
  readApiKey,
  readApiKeyByPrefix,
  readUser,
  readUserByEmail,
  refusalOf,
  roleAccess,
  writeApiKey,
  writeUser,
} from "./principals.ts";

const NOW_MS = 1_750_000_000_250;
const ACCESS: readonly Access[] = ["read", "write", "admin"];
const ROLES: readonly Role[] = ["viewer", "member", "admin", "owner"];

const USER: User = {
  userId: "u1",
  email: "Ada@Example.com",
  role: "member",
  namespaces: ["prod-eu", "test"],
  status: "active",
  passwordHash: "scrypt$x",
  passwordVersion: 0,
  createdAtMs: 1,
};
const API_KEY: ApiKey = {
  apiKeyId: "k1",
  userId: "u1",
  name: "ci",
  prefix: "qk_0aZ9bY8c",
  sha256: new Uint8Array(32).fill(9),
  createdAtMs: 2,
  expiresAtMs: 0,
  revokedAtMs: 0,
  lastUsedAtMs: 0,
};

const text = fc.string({ unit: "grapheme", maxLength: 12 }).filter((value) => value.isWellFormed());

function storeWith(users: readonly User[], apiKeys: readonly ApiKey[] = []): MemoryStateStore {
  const store = new MemoryStateStore();
  const transaction = new Transaction(store, (previous, bytes) => crc32(bytes, previous), 0);
  for (const user of users) {
    writeUser(transaction, user);
  }
  for (const apiKey of apiKeys) {
    writeApiKey(transaction, apiKey);
  }
  store.write(transaction.take());
  return store;
}

/** The reason of the refusal for the owner of the token; null = allowed. */
function reasonOf(
  { user = {}, apiKey, wallMs = NOW_MS }: { user?: Partial<User>; apiKey?: Partial<ApiKey>; wallMs?: number },
  need: { access: Access; namespace: string | null } | null,
): string | null {
  const apiKeys = apiKey === undefined ? [] : [{ ...API_KEY, ...apiKey }];
  const store = storeWith([{ ...USER, ...user }], apiKeys);
  const principal = { subject: USER.userId, apiKeyId: apiKey === undefined ? "" : API_KEY.apiKeyId };
  return refusalOf(store, principal, need, wallMs)?.reason ?? null;
}

/** With each ASCII letter in the other case. */
function inOtherCase(text: string): string {
  return text.replaceAll(/[A-Za-z]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) ^ 0x20));
}

describe("access levels", () => {
  for (const [role, levels] of [
    ["viewer", ["read"]],
    ["member", ["read", "write"]],
    ["admin", ["read", "write", "admin"]],
    ["owner", ["read", "write", "admin"]],
  ] as const) {
    it(`of the role ${role} are ${levels.join(", ")}`, () => {
      expect(roleAccess(role)).to.deep.equal(levels);
    });
  }

  for (const [granted, included] of [
    [[], []],
    [["read"], ["read"]],
    [["write"], ["read", "write"]],
    [["admin"], ["read", "write", "admin"]],
    [
      ["read", "admin"],
      ["read", "write", "admin"],
    ],
    [["READ", "reader", "*", ""], []],
  ] as const) {
    it(`${JSON.stringify(granted)} include ${included.join(", ") || "none"}`, () => {
      expect(ACCESS.filter((access) => includesAccess(granted, access))).to.deep.equal(included);
    });
  }
});

describe("lists of namespaces", () => {
  for (const [list, namespace, included] of [
    [["prod"], "prod", true],
    [["test", "prod"], "prod", true],
    [["*"], "prod", true],
    [["*"], "__proto__", true],
    [[], "prod", false],
    [["prod-eu"], "prod", false],
    [["prod"], "prod-eu", false],
    [["PROD"], "prod", false],
    [["prod*"], "prod", false],
    [["prod"], "*", false],
    [["prod"], "", false],
    [["prod"], "__proto__", false],
  ] as const) {
    it(`S40: ${JSON.stringify(list)} ${included ? "includes" : "does not include"} "${namespace}"`, () => {
      expect(includesNamespace(list, namespace)).to.equal(included);
    });
  }
});

describe("the rights of a principal", () => {
  for (const role of ROLES) {
    for (const access of ACCESS) {
      const may = roleAccess(role).includes(access);
      it(`as ${role}: ${access} is ${may ? "allowed" : "refused"}`, () => {
        const refused = may ? null : "ACCESS_DENIED";
        expect(reasonOf({ user: { role } }, { access, namespace: "test" })).to.equal(refused);
        expect(reasonOf({ user: { role } }, { access, namespace: null })).to.equal(refused);
      });
    }
  }

  it("end with its namespaces, for owners too", () => {
    for (const role of ROLES) {
      const need = { access: "read", namespace: "prod" } as const;
      expect(reasonOf({ user: { role } }, need), "S40: prod-eu is not prod").to.equal("NAMESPACE_DENIED");
      expect(reasonOf({ user: { role, namespaces: ["*"] } }, need)).to.equal(null);
      expect(reasonOf({ user: { role, namespaces: [] } }, need)).to.equal("NAMESPACE_DENIED");
    }
  });

  it("are refused for the namespace before the access level", () => {
    expect(reasonOf({ user: { role: "viewer" } }, { access: "admin", namespace: "other" })).to.equal(
      "NAMESPACE_DENIED",
    );
  });

  it("need nothing but a live token for an operation without a need", () => {
    expect(reasonOf({ user: { role: "viewer", namespaces: [] } }, null)).to.equal(null);
  });

  for (const status of ["unverified", "disabled"] as const) {
    it(`are none while the user is ${status}`, () => {
      expect(reasonOf({ user: { status, role: "owner", namespaces: ["*"] } }, null)).to.equal("TOKEN_REVOKED");
    });
  }

  it("are none for a user who does not exist", () => {
    for (const subject of ["", "u2", "U1", "__proto__", "constructor"]) {
      const error = refusalOf(storeWith([USER]), { subject, apiKeyId: "" }, null, NOW_MS);
      expect([error?.code, error?.reason], subject).to.deep.equal(["UNAUTHENTICATED", "TOKEN_REVOKED"]);
    }
  });

  it("are those of the user also with an API key", () => {
    expect(reasonOf({ apiKey: {} }, { access: "write", namespace: "test" })).to.equal(null);
    expect(reasonOf({ apiKey: {} }, { access: "admin", namespace: "test" })).to.equal("ACCESS_DENIED");
    expect(reasonOf({ apiKey: {}, user: { status: "disabled" } }, null)).to.equal("TOKEN_REVOKED");
  });

  it("end with the revocation of the API key, whatever the clock says", () => {
    for (const revokedAtMs of [1, NOW_MS, NOW_MS + 1_000_000]) {
      expect(reasonOf({ apiKey: { revokedAtMs } }, null)).to.equal("TOKEN_REVOKED");
    }
  });

  it("end when the API key expires, at that millisecond", () => {
    expect(reasonOf({ apiKey: { expiresAtMs: NOW_MS + 1 } }, null)).to.equal(null);
    expect(reasonOf({ apiKey: { expiresAtMs: NOW_MS } }, null)).to.equal("TOKEN_EXPIRED");
    expect(reasonOf({ apiKey: { expiresAtMs: NOW_MS - 1 } }, null)).to.equal("TOKEN_EXPIRED");
    expect(reasonOf({ apiKey: { expiresAtMs: NOW_MS, revokedAtMs: 1 } }, null)).to.equal("TOKEN_REVOKED");
  });

  it("are none with an API key that does not exist or belongs to another user", () => {
    const principal = { subject: "u1", apiKeyId: "k1" };
    expect(refusalOf(storeWith([USER]), principal, null, NOW_MS)?.reason).to.equal("TOKEN_REVOKED");
    expect(reasonOf({ apiKey: { userId: "u2" } }, null)).to.equal("TOKEN_REVOKED");
  });
});

describe("users", () => {
  const user: fc.Arbitrary<User> = fc.record({
    userId: text,
    email: text,
    role: fc.constantFrom(...ROLES),
    namespaces: fc.array(fc.oneof(text, fc.constantFrom("*", "__proto__")), { maxLength: 4 }),
    status: fc.constantFrom("unverified", "active", "disabled"),
    passwordHash: text,
    passwordVersion: fc.maxSafeNat(),
    createdAtMs: fc.maxSafeNat(),
  });

  it("come back as written, by id and by address in any case", () => {
    fc.assert(
      fc.property(user, (written) => {
        const store = storeWith([written]);
        expect(readUser(store, written.userId)).to.deep.equal(written);
        expect(readUserByEmail(store, written.email)).to.deep.equal(written);
        expect(readUserByEmail(store, inOtherCase(written.email))).to.deep.equal(written);
      }),
    );
  });

  it("are not found by a part of their id or address", () => {
    const store = storeWith([USER]);
    for (const part of ["", "u", "u11", "Ada", "example.com", "ada@example.co", "ada@example.comm", "__proto__"]) {
      expect(readUser(store, part), part).to.equal(undefined);
      expect(readUserByEmail(store, part), part).to.equal(undefined);
    }
    expect(readUserByEmail(store, "ADA@EXAMPLE.COM")?.userId).to.equal("u1");
  });

  it("have these bytes", () => {
    expect(storeWith([USER]).get(userRow("u1"))?.toHex()).to.equal(
      [
        "000000027531 0000000f416461404578616d706c652e636f6d 01",
        "00000002 0000000770726f642d6575 0000000474657374",
        "01 00000008736372797074 2478 0000000000000000 0000000000000001",
      ]
        .join("")
        .replaceAll(" ", ""),
    );
  });

  it("are refused after every truncation, with a byte more, and with an unknown role or status", () => {
    const store = storeWith([USER]);
    const row = store.get(userRow("u1")) as Uint8Array;
    const damaged: Uint8Array[] = [Uint8Array.of(...row, 0)];
    for (let length = 0; length < row.length; length++) {
      damaged.push(row.subarray(0, length));
    }
    for (const offset of [6 + 19, row.length - 2 * 8 - 12 - 1]) {
      damaged.push(row.slice().fill(4, offset, offset + 1));
    }
    for (const value of damaged) {
      store.write([{ key: userRow("u1"), value }]);
      expect(() => readUser(store, "u1"), value.toHex()).to.throw(InvariantViolation);
    }
  });
});

describe("API keys", () => {
  const apiKey: fc.Arbitrary<ApiKey> = fc.record({
    apiKeyId: text,
    userId: text,
    name: text,
    prefix: text,
    sha256: fc.uint8Array({ minLength: 32, maxLength: 32 }),
    createdAtMs: fc.maxSafeNat(),
    expiresAtMs: fc.maxSafeNat(),
    revokedAtMs: fc.maxSafeNat(),
    lastUsedAtMs: fc.maxSafeNat(),
  });

  it("come back as written, by id and by public part", () => {
    fc.assert(
      fc.property(apiKey, (written) => {
        const store = storeWith([], [written]);
        expect(readApiKey(store, written.apiKeyId)).to.deep.equal(written);
        expect(readApiKeyByPrefix(store, written.prefix)).to.deep.equal(written);
      }),
    );
  });

  it("are not found by anything else", () => {
    const store = storeWith([], [API_KEY]);
    for (const part of ["", "k", "k11", "K1", "qk_", "qk_0aZ9bY8C", "qk_0aZ9bY8c_", "__proto__"]) {
      expect(readApiKey(store, part), part).to.equal(undefined);
      expect(readApiKeyByPrefix(store, part), part).to.equal(undefined);
    }
  });

  it("have these bytes", () => {
    expect(storeWith([], [API_KEY]).get(apiKeyRow("k1"))?.toHex()).to.equal(
      [
        "000000026b31 000000027531 000000026369 0000000b716b5f30615a3962593863",
        `${"09".repeat(32)} 0000000000000002 ${"0000000000000000".repeat(3)}`,
      ]
        .join("")
        .replaceAll(" ", ""),
    );
  });

  it("are refused after every truncation and with a byte more, and hold hashes of 32 bytes", () => {
    const store = storeWith([], [API_KEY]);
    const row = store.get(apiKeyRow("k1")) as Uint8Array;
    for (let length = 0; length < row.length; length++) {
      store.write([{ key: apiKeyRow("k1"), value: row.subarray(0, length) }]);
      expect(() => readApiKey(store, "k1")).to.throw(InvariantViolation);
    }
    store.write([{ key: apiKeyRow("k1"), value: Uint8Array.of(...row, 0) }]);
    expect(() => readApiKey(store, "k1")).to.throw(InvariantViolation);
    expect(() => storeWith([], [{ ...API_KEY, sha256: new Uint8Array(31) }])).to.throw(InvariantViolation);
  });
});
