import { expect } from "chai";
import {
  AppliedLog,
  createApiKey,
  createUser,
  FOUNDING,
  OWNER,
  TOKEN_LIFETIME_MS,
  TOKEN_SHA256,
  updateUser,
} from "../../../test/index.ts";
import {
  CoordinationError,
  DEFAULT_STATE_LIMITS,
  namespaceUsersRow,
  type Principal,
  RecordWriter,
  type Role,
  USER_COUNT_ROW,
} from "../core/index.ts";
import {
  countUsers,
  countUsersOf,
  listApiKeys,
  listUsers,
  readApiKeyByPrefix,
  readClaimants,
  readUser,
  readUserByEmail,
  refusalOf,
} from "./principals.ts";
import { readVerification } from "./users.ts";

const ROLES: readonly Role[] = ["viewer", "member", "admin", "owner"];

function as(subject: string): Principal {
  return { subject, apiKeyId: "" };
}

describe("users", () => {
  let log: AppliedLog;

  beforeEach(() => {
    log = new AppliedLog();
  });

  /** "ok", or the reason of the refusal. */
  function verdict(answer: unknown): string {
    return answer instanceof CoordinationError ? answer.reason : "ok";
  }

  function verify(userId: string, tokenSha256 = TOKEN_SHA256, passwordHash = ""): string {
    return verdict(log.lead({ kind: "verify-user", userId, tokenSha256, passwordHash })?.answer);
  }

  /** An existing, active user. */
  function user(userId: string, role: Role, namespaces: readonly string[] = ["default"]): Principal {
    expect(verdict(log.ask(createUser(userId, { role, namespaces })))).equal("ok");
    expect(verify(userId)).equal("ok");
    return as(userId);
  }

  /** All rows except the progress, the usage, and the numbers of users of namespaces. */
  function records(): string[] {
    const others = ["a = ", "U", "I\u0003"];
    return log.dump().filter((row) => !others.some((beginning) => row.startsWith(beginning)));
  }

  function fieldOf(answer: unknown): string | undefined {
    return answer instanceof CoordinationError ? answer.details.get("field") : undefined;
  }

  describe("creating", () => {
    it("makes an unverified user, who is found by id and by address in any case, and has no rights", () => {
      log.ask(createUser("ada", { email: "Ada@Example.com", namespaces: ["a", "b"] }));
      const expected = {
        userId: "ada",
        email: "Ada@Example.com",
        role: "member",
        namespaces: ["a", "b"],
        status: "unverified",
        passwordHash: "scrypt$of-a-spec",
        passwordVersion: 0,
        createdAtMs: log.wallMs,
      };
      expect(readUser(log.store, "ada")).deep.equal(expected);
      expect(readUserByEmail(log.store, "aDA@example.COM")).deep.equal(expected);
      expect(refusalOf(log.store, as("ada"), null, log.wallMs)?.reason).equal("TOKEN_REVOKED");
      expect(countUsers(log.store)).equal(2);
    });

    it("is refused for a used address, in any case, and for a used id", () => {
      log.ask(createUser("ada"));
      expect(verdict(log.ask(createUser("b", { email: "ADA@quoin.LOCAL" })))).equal("USER_EXISTS");
      expect(verdict(log.ask(createUser("ada", { email: "b@quoin.local" })))).equal("USER_EXISTS");
      expect(countUsers(log.store)).equal(2);
    });

    it("P44: ignores only the case of ASCII letters: the case of others depends on the version of Unicode", () => {
      log.ask(createUser("zoe", { email: "zo\u00eb@quoin.local" }));
      expect(verdict(log.ask(createUser("b", { email: "ZO\u00eb@quoin.local" })))).equal("USER_EXISTS");
      expect(verdict(log.ask(createUser("b", { email: "ZO\u00cb@quoin.local" })))).equal("ok");
    });

    for (const actor of ROLES) {
      for (const role of ROLES) {
        const isAllowed = ["admin", "owner"].includes(actor) && ROLES.indexOf(actor) >= ROLES.indexOf(role);
        it(`of a ${role} is ${isAllowed ? "allowed for" : "refused to"} a user of the role ${actor}`, () => {
          const principal = user("actor", actor, ["*"]);
          const answer = log.ask(createUser("ada", { role, namespaces: ["*"] }), principal);
          expect(verdict(answer)).equal(isAllowed ? "ok" : "ACCESS_DENIED");
        });
      }
    }

    for (const [held, given, expected] of [
      [["a"], ["a"], "ok"],
      [["a"], [], "ok"],
      [["*"], ["x", "*"], "ok"],
      [["a"], ["a", "b"], "NAMESPACE_DENIED"],
      [["a"], ["*"], "NAMESPACE_DENIED"],
      [["prod-eu"], ["prod"], "NAMESPACE_DENIED"],
      [[], ["a"], "NAMESPACE_DENIED"],
    ] as const) {
      it(`by a holder of [${held}] gives [${given}]: ${expected}`, () => {
        const principal = user("actor", "admin", held);
        expect(verdict(log.ask(createUser("ada", { namespaces: given }), principal))).equal(expected);
      });
    }

    it("of an owner needs all namespaces", () => {
      for (const namespaces of [[], ["default"], ["*", "a"]]) {
        const answer = log.ask(createUser("ada", { role: "owner", namespaces }));
        expect([verdict(answer), fieldOf(answer)]).deep.equal(["BAD_FIELD", "namespaces"]);
      }
      expect(verdict(log.ask(createUser("ada", { role: "owner", namespaces: ["*"] })))).equal("ok");
    });
  });

  describe("of different namespaces", () => {
    const EMAIL = "shared@quoin.local";
    let one: Principal;
    let two: Principal;
    beforeEach(() => {
      one = user("one", "admin", ["a"]);
      two = user("two", "admin", ["b"]);
    });

    function create(userId: string, namespace: string, by: Principal): string {
      return verdict(log.ask(createUser(userId, { email: EMAIL, namespaces: [namespace] }), by));
    }

    const holder = () => readUserByEmail(log.store, EMAIL)?.userId;

    it("do not learn of each other's addresses, and keep none from each other", () => {
      expect(create("of one", "a", one)).equal("ok");
      expect(create("of two", "b", two)).equal("ok");
      expect([create("again", "a", one), create("again", "b", two)]).deep.equal(["USER_EXISTS", "USER_EXISTS"]);
      expect(create("again", "a", OWNER), "who sees both").equal("USER_EXISTS");
      expect(holder(), "the first").equal("of one");
      expect(verify("of two"), "who gets the mail decides").equal("ok");
      expect(holder()).equal("of two");
      expect(create("again", "a", one)).equal("USER_EXISTS");
      expect(verify("of one"), "the address is another user's").equal("BAD_FIELD");
      expect(readUser(log.store, "of one")?.status).equal("unverified");
      expect(create("third", "c", user("three", "admin", ["c"])), "also once it is verified").equal("ok");
      expect(holder()).equal("of two");
    });

    it("hand an address on when its user is deleted", () => {
      for (const [userId, namespace, by] of [
        ["of one", "a", one],
        ["of two", "b", two],
      ] as const) {
        create(userId, namespace, by);
      }
      log.ask({ kind: "delete-user", userId: "of one" });
      expect(holder()).equal("of two");
      expect(create("again", "a", one)).equal("ok");
      log.ask({ kind: "delete-user", userId: "again" });
      expect([holder(), readClaimants(log.store, EMAIL)]).deep.equal(["of two", []]);
      expect(verify("of two")).equal("ok");
      log.ask({ kind: "delete-user", userId: "of two" });
      expect(holder()).equal(undefined);
    });

    it("keep an address from each other in a cluster of version 4", () => {
      log = new AppliedLog(DEFAULT_STATE_LIMITS, { ...FOUNDING, clusterVersion: 4 });
      one = user("one", "admin", ["a"]);
      two = user("two", "admin", ["b"]);
      expect([create("of one", "a", one), create("of two", "b", two)]).deep.equal(["ok", "USER_EXISTS"]);
      log.lead({ kind: "set-cluster-version", version: 5 });
      expect(create("of two", "b", two)).equal("ok");
      expect(verify("of one")).equal("ok");
      expect(verify("of two")).equal("BAD_FIELD");
    });

    it("have as many users as are left for others", () => {
      /** Lets the cluster have this many users, of which the namespace has some. */
      const letThereBe = (users: number, ofNamespace: number): void => {
        const count = (value: number): Uint8Array => new RecordWriter().uint53(value).finish();
        log.store.write([
          { key: USER_COUNT_ROW, value: count(users) },
          { key: namespaceUsersRow("a"), value: count(ofNamespace) },
        ]);
        log.restart();
      };
      letThereBe(60_000, 39_999);
      expect(create("last", "a", one)).equal("ok");
      expect(countUsersOf(log.store, "a")).equal(40_000);
      const refusal = log.ask(createUser("more", { namespaces: ["b", "a"] }));
      expect(verdict(refusal)).equal("QUOTA");
      expect(String(refusal)).include('the namespace "a" has as many of the 100000 users');
      expect(verdict(log.ask(updateUser("two", { namespaces: ["b", "a"] })))).equal("QUOTA");
      expect(verdict(log.ask(createUser("other", { namespaces: ["b"] })))).equal("ok");
      log.ask(updateUser("last", { namespaces: ["b"] }));
      log.ask({ kind: "delete-user", userId: "one" });
      expect([countUsersOf(log.store, "a"), countUsersOf(log.store, "b")]).deep.equal([39_998, 3]);
    });

    it("are counted when the cluster becomes of version 5", () => {
      log = new AppliedLog(DEFAULT_STATE_LIMITS, { ...FOUNDING, clusterVersion: 4 });
      for (const [userId, namespaces] of [
        ["u1", ["a"]],
        ["u2", ["a", "b"]],
        ["u3", ["*"]],
      ] as const) {
        user(userId, "member", namespaces);
      }
      log.lead({ kind: "set-cluster-version", version: 5 });
      user("u4", "member", ["a"]);
      log.ask({ kind: "delete-user", userId: "u2" });
      expect([countUsersOf(log.store, "a"), countUsersOf(log.store, "b")]).deep.equal([2, 0]);
    });
  });

  describe("verification", () => {
    beforeEach(() => {
      log.ask(createUser("ada"));
    });

    it("makes the user active, once", () => {
      expect(verify("ada")).equal("ok");
      expect(readUser(log.store, "ada")).include({ status: "active", passwordHash: "scrypt$of-a-spec" });
      expect(readVerification(log.store, "ada")).equal(undefined);
      expect(verify("ada")).equal("BAD_FIELD");
    });

    it("is refused with another token, for another user, and for no user", () => {
      expect(verify("ada", new Uint8Array(32).fill(0x78))).equal("BAD_FIELD");
      expect(verify(OWNER.subject)).equal("BAD_FIELD");
      expect(verify("nobody")).equal("BAD_FIELD");
      expect(readUser(log.store, "ada")?.status).equal("unverified");
    });

    it("is refused from the millisecond on at which the token expires", () => {
      log.wallMs += TOKEN_LIFETIME_MS;
      expect(verify("ada")).equal("BAD_FIELD");
      expect(readUser(log.store, "ada")?.status).equal("unverified");
    });

    it("succeeds in the millisecond before", () => {
      log.wallMs += TOKEN_LIFETIME_MS - 1;
      expect(verify("ada")).equal("ok");
    });

    it("sets a password, and needs one if there is none", () => {
      log.ask(createUser("ben", { passwordHash: "" }));
      const command = { kind: "verify-user", userId: "ben", tokenSha256: TOKEN_SHA256 } as const;
      expect(fieldOf(log.lead({ ...command, passwordHash: "" })?.answer)).equal("password");
      expect(verify("ben", TOKEN_SHA256, "scrypt$bens")).equal("ok");
      expect(readUser(log.store, "ben")).include({ status: "active", passwordHash: "scrypt$bens" });
      expect(verify("ada", TOKEN_SHA256, "scrypt$adas")).equal("ok");
      expect(readUser(log.store, "ada")?.passwordHash).equal("scrypt$adas");
    });
  });

  describe("updating", () => {
    it("changes the given fields and nothing else", () => {
      user("ada", "member", ["a"]);
      log.ask(updateUser("ada", { role: "viewer" }));
      log.ask(updateUser("ada", { namespaces: ["b", "c"] }));
      log.ask(updateUser("ada", { passwordHash: "scrypt$new" }));
      const answer = log.ask(updateUser("ada", { status: "disabled" }));
      const expected = { role: "viewer", namespaces: ["b", "c"], passwordHash: "scrypt$new", status: "disabled" };
      expect(readUser(log.store, "ada")).deep.include(expected);
      expect(answer).deep.include({ kind: "update-user", user: readUser(log.store, "ada") });
    });

    it("takes effect at once, also for tokens that claim more", () => {
      const ada = user("ada", "member");
      const need = { access: "write", namespace: "default" } as const;
      expect(refusalOf(log.store, ada, need, log.wallMs)).equal(null);
      log.ask(updateUser("ada", { role: "viewer" }));
      expect(refusalOf(log.store, ada, need, log.wallMs)?.reason).equal("ACCESS_DENIED");
      log.ask(updateUser("ada", { role: "member", namespaces: [] }));
      expect(refusalOf(log.store, ada, need, log.wallMs)?.reason).equal("NAMESPACE_DENIED");
      log.ask(updateUser("ada", { status: "disabled" }));
      expect(refusalOf(log.store, ada, null, log.wallMs)?.reason).equal("TOKEN_REVOKED");
    });

    it("the owner by an admin of all namespaces fails as if the owner did not exist", () => {
      const admin = user("admin", "admin", ["*"]);
      const before = records();
      for (const changes of [{ passwordHash: "x" }, { status: "disabled" as const }, {}]) {
        const answer = log.ask(updateUser(OWNER.subject, changes), admin);
        expect(verdict(answer)).equal("USER_NOT_FOUND");
        expect(String(answer)).equal(String(log.ask(updateUser("nobody", changes), admin)));
      }
      expect(records()).deep.equal(before);
    });

    it("does not find an absent user, and is refused to members before that (S43)", () => {
      expect(verdict(log.ask(updateUser("nobody")))).equal("USER_NOT_FOUND");
      expect(verdict(log.ask(updateUser("nobody"), user("ada", "member")))).equal("ACCESS_DENIED");
    });

    it("cannot replace a verification", () => {
      log.ask(createUser("ada"));
      expect(fieldOf(log.ask(updateUser("ada", { status: "active" })))).equal("status");
      expect(readUser(log.store, "ada")?.status).equal("unverified");
    });

    it("disables an unverified user, who has to be verified after that", () => {
      log.ask(createUser("ada"));
      expect(verdict(log.ask(updateUser("ada", { status: "disabled" })))).equal("ok");
      expect(verify("ada")).equal("BAD_FIELD");
      expect(verdict(log.ask(updateUser("ada", { status: "disabled" })))).equal("ok");
      expect(log.ask(updateUser("ada", { status: "active" }))).to.have.nested.property("user.status", "unverified");
      expect(refusalOf(log.store, as("ada"), null, log.wallMs)?.reason).equal("TOKEN_REVOKED");
      expect(verify("ada")).equal("ok");
      expect(readUser(log.store, "ada")?.status).equal("active");
    });

    it("disables no unverified user in a cluster of version 4", () => {
      log = new AppliedLog(DEFAULT_STATE_LIMITS, { ...FOUNDING, clusterVersion: 4 });
      log.ask(createUser("ada"));
      expect(fieldOf(log.ask(updateUser("ada", { status: "disabled" })))).equal("status");
    });

    it("gives a new owner all namespaces", () => {
      user("ada", "member", ["a"]);
      log.ask(updateUser("ada", { role: "owner" }));
      expect(readUser(log.store, "ada")).deep.include({ role: "owner", namespaces: ["*"] });
      expect(fieldOf(log.ask(updateUser("ada", { namespaces: ["a"] })))).equal("namespaces");
      expect(verdict(log.ask(updateUser("ada", { role: "member", namespaces: ["a"] })))).equal("ok");
    });

    const cases: readonly (readonly [string, Role, readonly string[], Parameters<typeof updateUser>[1], string])[] = [
      ["gives a namespace that is held", "member", ["b"], { namespaces: ["b", "a"] }, "ok"],
      ["takes a namespace that is held", "member", ["b", "a"], { namespaces: ["b"] }, "ok"],
      ["gives one that is not", "member", ["b"], { namespaces: ["b", "c"] }, "NAMESPACE_DENIED"],
      ["takes one that is not", "member", ["b", "a", "c"], { namespaces: ["a", "b"] }, "USER_NOT_FOUND"],
      ["gives all", "member", ["a"], { namespaces: ["*"] }, "NAMESPACE_DENIED"],
      ["takes all", "member", ["*"], { namespaces: ["a"] }, "USER_NOT_FOUND"],
      ["changes a role", "member", ["a"], { role: "admin" }, "ok"],
      ["changes a role of a user with a further namespace", "member", ["a", "c"], { role: "admin" }, "USER_NOT_FOUND"],
      ["gives the role owner", "member", ["a"], { role: "owner", namespaces: ["*"] }, "ACCESS_DENIED"],
      ["demotes an owner", "owner", ["*"], { role: "viewer" }, "USER_NOT_FOUND"],
      ["sets a password", "member", ["a"], { passwordHash: "x" }, "ok"],
      ["sets the password of a user with more rights", "member", ["a", "c"], { passwordHash: "x" }, "USER_NOT_FOUND"],
      ["sets the password of an owner", "owner", ["*"], { passwordHash: "x" }, "USER_NOT_FOUND"],
      ["disables a user", "member", ["a"], { status: "disabled" }, "ok"],
      ["disables a user with more rights", "member", ["c"], { status: "disabled" }, "USER_NOT_FOUND"],
      [
        "gives a namespace that is held to a user with more rights",
        "member",
        ["c"],
        { namespaces: ["a"] },
        "USER_NOT_FOUND",
      ],
      ["changes nothing of an owner", "owner", ["*"], {}, "USER_NOT_FOUND"],
    ];
    for (const [name, role, namespaces, changes, expected] of cases) {
      it(`by an admin of the namespaces a and b, who ${name}: ${expected}`, () => {
        const admin = user("admin", "admin", ["a", "b"]);
        user("ada", role, namespaces);
        const before = records();
        expect(verdict(log.ask(updateUser("ada", changes), admin))).equal(expected);
        if (expected !== "ok") {
          expect(records(), "nothing changed").deep.equal(before);
        }
      });
    }
  });

  describe("changing a password", () => {
    const NEED = { access: "read", namespace: "default" } as const;

    /** Why the principal may not read, "" if it may. */
    function refused(principal: Principal): string {
      return refusalOf(log.store, principal, NEED, log.wallMs)?.reason ?? "";
    }

    it("ends every login before it, and no API key, at once and in apply", () => {
      const ada = user("ada", "member");
      log.ask(createApiKey("k1"), ada);
      const byKey = { subject: "ada", apiKeyId: "k1" };
      log.ask(updateUser("ada", { passwordHash: "scrypt$1" }));
      const second = { ...ada, passwordVersion: 1 };
      expect([refused(ada), refused(second), refused(byKey)]).deep.equal(["TOKEN_REVOKED", "", ""]);
      const key = (principal: Principal) =>
        log.ask(createApiKey(`k${principal.passwordVersion ?? 0}-of-login`), principal);
      expect([verdict(key(ada)), verdict(key(second))]).deep.equal(["TOKEN_REVOKED", "ok"]);
      log.ask(updateUser("ada", { passwordHash: "scrypt$1" }));
      expect([refused(ada), refused(second), refused({ ...ada, passwordVersion: 2 }), refused(byKey)]).deep.equal([
        ...["TOKEN_REVOKED", "TOKEN_REVOKED", "", ""],
      ]);
      expect(verdict(key(second))).equal("TOKEN_REVOKED");
    });

    it("happens without any other change of the user", () => {
      const ada = user("ada", "member");
      log.ask(updateUser("ada", { role: "viewer", namespaces: ["default", "b"], status: "active" }));
      expect([refused(ada), readUser(log.store, "ada")?.passwordVersion]).deep.equal(["", 0]);
    });

    for (const role of ROLES) {
      it(`of one's own is allowed to the role ${role}, who knows the current one`, () => {
        const ada = user("ada", role, role === "owner" ? ["*"] : ["default"]);
        const change = (known: number | null, more = {}) =>
          log.ask(updateUser("ada", { passwordHash: "scrypt$new", knownPasswordVersion: known, ...more }), ada);
        const before = records();
        for (const known of [null, 1]) {
          expect([verdict(change(known)), fieldOf(change(known))]).deep.equal(["BAD_FIELD", "current_password"]);
        }
        if (role === "viewer" || role === "member") {
          expect(verdict(change(0, { status: "active" }))).equal("ACCESS_DENIED");
          expect(verdict(change(0, { role: "viewer" }))).equal("ACCESS_DENIED");
        }
        expect(records(), "nothing changed").deep.equal(before);
        expect(verdict(change(0))).equal("ok");
        expect(readUser(log.store, "ada")).include({ passwordHash: "scrypt$new", passwordVersion: 1 });
        expect(verdict(change(1)), "the login has ended").equal("TOKEN_REVOKED");
      });
    }

    it("of another user is refused to members, who learn nothing of the user", () => {
      const ada = user("ada", "member");
      user("ben", "viewer", []);
      for (const userId of ["ben", "nobody"]) {
        expect(verdict(log.ask(updateUser(userId, { passwordHash: "x", knownPasswordVersion: 0 }), ada))).equal(
          "ACCESS_DENIED",
        );
      }
    });
  });

  describe("the last active owner", () => {
    const ends = [
      ["demoted", updateUser(OWNER.subject, { role: "admin" })],
      ["disabled", updateUser(OWNER.subject, { status: "disabled" })],
      ["deleted", { kind: "delete-user", userId: OWNER.subject }],
    ] as const;
    for (const [name, operation] of ends) {
      it(`cannot be ${name}, unless another one is active`, () => {
        expect(verdict(log.ask(operation))).equal("LAST_OWNER");
        log.ask(createUser("ada", { role: "owner", namespaces: ["*"] }));
        expect(verdict(log.ask(operation)), "an unverified owner does not count").equal("LAST_OWNER");
        verify("ada");
        log.ask(updateUser("ada", { status: "disabled" }));
        expect(verdict(log.ask(operation)), "a disabled owner does not count").equal("LAST_OWNER");
        log.ask(updateUser("ada", { status: "active" }));
        expect(verdict(log.ask(operation))).equal("ok");
        expect(verdict(log.ask(updateUser("ada", { role: "viewer" }), as("ada")))).equal("LAST_OWNER");
      });
    }

    it("can change their own password", () => {
      const changes = { passwordHash: "scrypt$other", knownPasswordVersion: 0 };
      expect(verdict(log.ask(updateUser(OWNER.subject, changes)))).equal("ok");
    });
  });

  describe("deleting", () => {
    it("removes the user and all of the API keys, with every row", () => {
      const before = records();
      const ada = user("ada", "member");
      log.ask(createApiKey("k1"), ada);
      log.ask(createApiKey("k2"), ada);
      log.ask({ kind: "revoke-api-key", apiKeyId: "k2" }, ada);
      expect(log.ask({ kind: "delete-user", userId: "ada" })).include({ kind: "delete-user", userId: "ada" });
      expect(records()).deep.equal(before);
      for (const apiKeyId of ["", "k1", "k2"]) {
        expect(refusalOf(log.store, { subject: "ada", apiKeyId }, null, log.wallMs)?.reason).equal("TOKEN_REVOKED");
      }
      expect(readApiKeyByPrefix(log.store, createApiKey("k1").prefix)).equal(undefined);
      expect(listApiKeys(log.store, null, 10, true, () => true).items.map(({ userId }) => userId)).deep.equal([
        OWNER.subject,
      ]);
    });

    it("frees the address for another user, who gets none of the rights", () => {
      const ada = user("ada", "admin");
      log.ask({ kind: "delete-user", userId: "ada" });
      log.ask(createUser("other", { email: "ada@quoin.local", role: "viewer" }));
      expect(readUserByEmail(log.store, "ada@quoin.local")?.userId).equal("other");
      expect(refusalOf(log.store, ada, null, log.wallMs)?.reason).equal("TOKEN_REVOKED");
      expect(verify("ada"), "the old token is invalid").equal("BAD_FIELD");
    });

    it("needs every namespace and the role of the user", () => {
      const admin = user("admin", "admin", ["a"]);
      user("more", "member", ["a", "b"]);
      user("same", "admin", ["a"]);
      expect(verdict(log.ask({ kind: "delete-user", userId: "more" }, admin))).equal("USER_NOT_FOUND");
      expect(verdict(log.ask({ kind: "delete-user", userId: OWNER.subject }, admin))).equal("USER_NOT_FOUND");
      expect(verdict(log.ask({ kind: "delete-user", userId: "same" }, admin))).equal("ok");
      expect(verdict(log.ask({ kind: "delete-user", userId: "same" }, admin))).equal("USER_NOT_FOUND");
    });

    it("of an unverified user invalidates the token", () => {
      log.ask(createUser("ada"));
      log.ask({ kind: "delete-user", userId: "ada" });
      expect(readVerification(log.store, "ada")).equal(undefined);
      expect(verify("ada")).equal("BAD_FIELD");
    });
  });

  it("are listed page by page", () => {
    for (const userId of ["c", "a", "b"]) {
      log.ask(createUser(userId));
    }
    const first = listUsers(log.store, null, 2, () => true);
    expect(first.items.map(({ userId }) => userId)).deep.equal(["a", "b"]);
    const second = listUsers(log.store, first.lastRow, 2, () => true);
    expect(second.items.map(({ userId }) => userId)).deep.equal(["c", OWNER.subject]);
    expect(second.lastRow).equal(null);
  });
});
