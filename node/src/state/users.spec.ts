import { expect } from "chai";
import {
  AppliedLog,
  createApiKey,
  createUser,
  OWNER,
  TOKEN_LIFETIME_MS,
  TOKEN_SHA256,
  updateUser,
} from "../../test/index.ts";
import type { Principal } from "./command.ts";
import { CoordinationError } from "./coordination-error.ts";
import {
  countUsers,
  listApiKeys,
  listUsers,
  type Role,
  readApiKeyByPrefix,
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

  /** A user who is there and active. */
  function user(userId: string, role: Role, namespaces: readonly string[] = ["default"]): Principal {
    expect(verdict(log.ask(createUser(userId, { role, namespaces })))).equal("ok");
    expect(verify(userId)).equal("ok");
    return as(userId);
  }

  /** All rows, but how far the log is applied and what was counted of it. */
  function records(): string[] {
    return log.dump().filter((row) => !row.startsWith("a = ") && !row.startsWith("U"));
  }

  function fieldOf(answer: unknown): string | undefined {
    return answer instanceof CoordinationError ? answer.details.get("field") : undefined;
  }

  describe("creating", () => {
    it("makes an unverified user, who is found by id and by address in any case, and can do nothing", () => {
      log.ask(createUser("ada", { email: "Ada@Example.com", namespaces: ["a", "b"] }));
      const expected = {
        ...{ userId: "ada", email: "Ada@Example.com", role: "member", namespaces: ["a", "b"], status: "unverified" },
        ...{ passwordHash: "scrypt$of-a-spec", createdAtMs: log.wallMs },
      };
      expect(readUser(log.store, "ada")).deep.equal(expected);
      expect(readUserByEmail(log.store, "aDA@example.COM")).deep.equal(expected);
      expect(refusalOf(log.store, as("ada"), null, log.wallMs)?.reason).equal("TOKEN_REVOKED");
      expect(countUsers(log.store)).equal(2);
    });

    it("is refused for an address that is taken, in any case, and for an id that is", () => {
      log.ask(createUser("ada"));
      expect(verdict(log.ask(createUser("b", { email: "ADA@quoin.LOCAL" })))).equal("USER_EXISTS");
      expect(verdict(log.ask(createUser("ada", { email: "b@quoin.local" })))).equal("USER_EXISTS");
      expect(countUsers(log.store)).equal(2);
    });

    it("P44: takes only letters of ASCII for the same in any case: what others are depends on the version of Unicode", () => {
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

    it("is refused with another token, for another user, and for none", () => {
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

    it("is accepted in the millisecond before", () => {
      log.wallMs += TOKEN_LIFETIME_MS - 1;
      expect(verify("ada")).equal("ok");
    });

    it("sets a password, and needs one where there is none", () => {
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
    it("changes what is given and nothing else", () => {
      user("ada", "member", ["a"]);
      log.ask(updateUser("ada", { role: "viewer" }));
      log.ask(updateUser("ada", { namespaces: ["b", "c"] }));
      log.ask(updateUser("ada", { passwordHash: "scrypt$new" }));
      const answer = log.ask(updateUser("ada", { status: "disabled" }));
      const expected = { role: "viewer", namespaces: ["b", "c"], passwordHash: "scrypt$new", status: "disabled" };
      expect(readUser(log.store, "ada")).deep.include(expected);
      expect(answer).deep.include({ kind: "update-user", user: readUser(log.store, "ada") });
    });

    it("counts at once, for tokens that claim more", () => {
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

    it("does not find a user who is not there, and is refused to members before that (S43)", () => {
      expect(verdict(log.ask(updateUser("nobody")))).equal("USER_NOT_FOUND");
      expect(verdict(log.ask(updateUser("nobody"), user("ada", "member")))).equal("ACCESS_DENIED");
    });

    it("cannot make up for a verification", () => {
      log.ask(createUser("ada"));
      for (const status of ["active", "disabled"] as const) {
        expect(fieldOf(log.ask(updateUser("ada", { status })))).equal("status");
      }
      expect(readUser(log.store, "ada")?.status).equal("unverified");
    });

    it("gives whoever becomes an owner all namespaces", () => {
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
      ["takes one that is not", "member", ["b", "a"], { namespaces: ["a"] }, "NAMESPACE_DENIED"],
      ["gives all", "member", ["a"], { namespaces: ["*"] }, "NAMESPACE_DENIED"],
      ["takes all", "member", ["*"], { namespaces: ["a"] }, "NAMESPACE_DENIED"],
      ["changes a role", "member", ["a"], { role: "admin" }, "ok"],
      ["changes a role where others rule as well", "member", ["a", "b"], { role: "admin" }, "ACCESS_DENIED"],
      ["gives the role owner", "member", ["a"], { role: "owner", namespaces: ["*"] }, "ACCESS_DENIED"],
      ["demotes an owner", "owner", ["*"], { role: "viewer" }, "ACCESS_DENIED"],
      ["sets a password", "member", ["a"], { passwordHash: "x" }, "ok"],
      ["sets the password of a holder of more", "member", ["a", "b"], { passwordHash: "x" }, "ACCESS_DENIED"],
      ["sets the password of an owner", "owner", ["*"], { passwordHash: "x" }, "ACCESS_DENIED"],
      ["disables a user", "member", ["a"], { status: "disabled" }, "ok"],
      ["disables a holder of more", "member", ["b"], { status: "disabled" }, "ACCESS_DENIED"],
      ["changes nothing of an owner", "owner", ["*"], {}, "ACCESS_DENIED"],
    ];
    for (const [name, role, namespaces, changes, expected] of cases) {
      it(`by an admin of the namespace a, who ${name}: ${expected}`, () => {
        const admin = user("admin", "admin", ["a"]);
        user("ada", role, namespaces);
        const before = records();
        expect(verdict(log.ask(updateUser("ada", changes), admin))).equal(expected);
        if (expected !== "ok") {
          expect(records(), "nothing changed").deep.equal(before);
        }
      });
    }
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
        expect(verdict(log.ask(operation)), "an unverified owner is none").equal("LAST_OWNER");
        verify("ada");
        log.ask(updateUser("ada", { status: "disabled" }));
        expect(verdict(log.ask(operation)), "a disabled owner is none").equal("LAST_OWNER");
        log.ask(updateUser("ada", { status: "active" }));
        expect(verdict(log.ask(operation))).equal("ok");
        expect(verdict(log.ask(updateUser("ada", { role: "viewer" }), as("ada")))).equal("LAST_OWNER");
      });
    }

    it("can have the password changed", () => {
      expect(verdict(log.ask(updateUser(OWNER.subject, { passwordHash: "scrypt$other" })))).equal("ok");
    });
  });

  describe("deleting", () => {
    it("takes the user and all of the API keys, with every row", () => {
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
      expect(listApiKeys(log.store, null, 10, true).items.map(({ userId }) => userId)).deep.equal([OWNER.subject]);
    });

    it("leaves the address to somebody else, who has none of the rights", () => {
      const ada = user("ada", "admin");
      log.ask({ kind: "delete-user", userId: "ada" });
      log.ask(createUser("other", { email: "ada@quoin.local", role: "viewer" }));
      expect(readUserByEmail(log.store, "ada@quoin.local")?.userId).equal("other");
      expect(refusalOf(log.store, ada, null, log.wallMs)?.reason).equal("TOKEN_REVOKED");
      expect(verify("ada"), "the old token is of nobody").equal("BAD_FIELD");
    });

    it("needs every namespace and the role of the user", () => {
      const admin = user("admin", "admin", ["a"]);
      user("more", "member", ["a", "b"]);
      user("same", "admin", ["a"]);
      expect(verdict(log.ask({ kind: "delete-user", userId: "more" }, admin))).equal("ACCESS_DENIED");
      expect(verdict(log.ask({ kind: "delete-user", userId: OWNER.subject }, admin))).equal("ACCESS_DENIED");
      expect(verdict(log.ask({ kind: "delete-user", userId: "same" }, admin))).equal("ok");
      expect(verdict(log.ask({ kind: "delete-user", userId: "same" }, admin))).equal("USER_NOT_FOUND");
    });

    it("of an unverified user makes the token worthless", () => {
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
    const first = listUsers(log.store, null, 2);
    expect(first.items.map(({ userId }) => userId)).deep.equal(["a", "b"]);
    const second = listUsers(log.store, first.lastRow, 2);
    expect(second.items.map(({ userId }) => userId)).deep.equal(["c", OWNER.subject]);
    expect(second.lastRow).equal(null);
  });
});
