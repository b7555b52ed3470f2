import { expect } from "chai";
import {
  AppliedLog,
  createApiKey,
  createUser,
  FOUNDING,
  OWNER,
  TOKEN_SHA256,
  updateUser,
} from "../../../test/index.ts";
import { API_KEYS_PER_USER_MAX, CoordinationError, type Principal, type Role } from "../core/index.ts";
import { listApiKeys, listApiKeysOf, readApiKey, readApiKeyByPrefix, refusalOf } from "./principals.ts";

const HOUR_MS = 3_600_000;

describe("API keys in the state", () => {
  let log: AppliedLog;
  let ada: Principal;

  beforeEach(() => {
    log = new AppliedLog();
    ada = user("ada", "member");
  });

  function user(userId: string, role: Role, namespaces: readonly string[] = ["default"]): Principal {
    log.ask(createUser(userId, { role, namespaces }));
    log.lead({ kind: "verify-user", userId, tokenSha256: TOKEN_SHA256, passwordHash: "" });
    return { subject: userId, apiKeyId: "" };
  }

  function verdict(answer: unknown): string {
    return answer instanceof CoordinationError ? answer.reason : "ok";
  }

  function revoke(apiKeyId: string, principal: Principal = ada) {
    return log.ask({ kind: "revoke-api-key", apiKeyId }, principal);
  }

  it("act as their creator, and are found by id and by public part", () => {
    const command = createApiKey("k1");
    const apiKey = {
      apiKeyId: "k1",
      userId: "ada",
      name: "key k1",
      prefix: command.prefix,
      sha256: command.sha256,
      createdAtMs: log.wallMs,
      expiresAtMs: 0,
      revokedAtMs: 0,
      lastUsedAtMs: 0,
    };
    expect(log.ask(command, ada)).deep.include({ kind: "create-api-key", apiKey });
    expect(readApiKey(log.store, "k1")).deep.equal(apiKey);
    expect(readApiKeyByPrefix(log.store, command.prefix)).deep.equal(apiKey);
    expect(refusalOf(log.store, { subject: "ada", apiKeyId: "k1" }, null, log.wallMs)).equal(null);
    expect(refusalOf(log.store, { ...OWNER, apiKeyId: "k1" }, null, log.wallMs)?.reason).equal("TOKEN_REVOKED");
  });

  it("expire by the clock of the entry that made them", () => {
    log.ask(createApiKey("k1", HOUR_MS), ada);
    const principal = { subject: "ada", apiKeyId: "k1" };
    expect(readApiKey(log.store, "k1")?.expiresAtMs).equal(log.wallMs + HOUR_MS);
    expect(refusalOf(log.store, principal, null, log.wallMs + HOUR_MS - 1)).equal(null);
    expect(refusalOf(log.store, principal, null, log.wallMs + HOUR_MS)?.reason).equal("TOKEN_EXPIRED");
  });

  it("can create further keys, which belong to their creator", () => {
    log.ask(createApiKey("k1"), ada);
    log.ask(createApiKey("k2"), { subject: "ada", apiKeyId: "k1" });
    expect(readApiKey(log.store, "k2")?.userId).equal("ada");
  });

  it("cannot be created for viewers, nor by a revoked key", () => {
    expect(verdict(log.ask(createApiKey("k1"), user("eve", "viewer")))).equal("ACCESS_DENIED");
    log.ask(createApiKey("k2"), ada);
    revoke("k2");
    expect(verdict(log.ask(createApiKey("k3"), { subject: "ada", apiKeyId: "k2" }))).equal("TOKEN_REVOKED");
    expect(readApiKey(log.store, "k1") ?? readApiKey(log.store, "k3")).equal(undefined);
  });

  it("never replace another key", () => {
    log.ask(createApiKey("k1"), ada);
    const again = { ...createApiKey("k1"), name: "other" };
    expect(verdict(log.ask(again))).equal("OVERLOADED");
    expect(verdict(log.ask({ ...again, apiKeyId: "k2" }))).equal("OVERLOADED");
    expect(verdict(log.ask({ ...again, prefix: "qk_other000" }))).equal("OVERLOADED");
    expect(readApiKey(log.store, "k1")).include({ userId: "ada", name: "key k1" });
  });

  describe("revoking", () => {
    beforeEach(() => {
      log.ask(createApiKey("k1"), ada);
    });

    it("takes effect with its entry, for ever, and gives the same answer again", () => {
      log.wallMs += 5;
      const first = revoke("k1");
      expect(first).include({ kind: "revoke-api-key", apiKeyId: "k1", revokedAtMs: log.wallMs });
      const principal = { subject: "ada", apiKeyId: "k1" };
      expect(refusalOf(log.store, principal, null, log.wallMs)?.reason).equal("TOKEN_REVOKED");
      log.wallMs += HOUR_MS;
      expect(revoke("k1")).deep.equal(first);
      expect(refusalOf(log.store, principal, null, 0)?.reason).equal("TOKEN_REVOKED");
    });

    it("stops mutations of the key before their stored answers", () => {
      const operation = { kind: "create-namespace", namespace: "default" } as const;
      const asking = { principal: { subject: "ada", apiKeyId: "k1" } };
      expect(log.refusal(operation, asking).reason).equal("ACCESS_DENIED");
      revoke("k1");
      expect(log.refusal(operation, asking).reason).equal("TOKEN_REVOKED");
    });

    it("can be done with the key itself, once", () => {
      const principal = { subject: "ada", apiKeyId: "k1" };
      expect(verdict(revoke("k1", principal))).equal("ok");
      expect(verdict(revoke("k1", principal))).equal("TOKEN_REVOKED");
    });

    for (const [role, namespaces, expected] of [
      ["viewer", ["default"], "API_KEY_NOT_FOUND"],
      ["member", ["*"], "API_KEY_NOT_FOUND"],
      ["admin", [], "API_KEY_NOT_FOUND"],
      ["admin", ["defaults"], "API_KEY_NOT_FOUND"],
      ["admin", ["default"], "ok"],
      ["admin", ["*"], "ok"],
      ["owner", ["*"], "ok"],
    ] as const) {
      it(`of a member's key by another ${role} of [${namespaces}]: ${expected}`, () => {
        const other = user("other", role, namespaces);
        const [answer, unknown] = [revoke("k1", other), revoke("nothing", other)];
        expect(verdict(answer)).equal(expected);
        expect(verdict(unknown)).equal("API_KEY_NOT_FOUND");
        expect(readApiKey(log.store, "k1")?.revokedAtMs !== 0).equal(expected === "ok");
        if (expected !== "ok") {
          expect(String(answer), "as if the key did not exist").equal(String(unknown));
        }
      });
    }

    it("of the owner's key is refused to an admin of a namespace, as if the key did not exist", () => {
      const admin = user("admin", "admin");
      expect(verdict(revoke(FOUNDING.owner.apiKeyId, admin))).equal("API_KEY_NOT_FOUND");
      expect(readApiKey(log.store, FOUNDING.owner.apiKeyId)?.revokedAtMs).equal(0);
    });

    it("of a viewer's own key needs only a valid token", () => {
      const eve = user("eve", "member");
      log.ask(createApiKey("leaked"), eve);
      log.ask(updateUser("eve", { role: "viewer", namespaces: [] }));
      expect(verdict(revoke("leaked", eve))).equal("ok");
      expect(verdict(revoke("leaked", { ...eve, apiKeyId: "leaked" }))).equal("TOKEN_REVOKED");
    });
  });

  describe("listing", () => {
    beforeEach(() => {
      for (const apiKeyId of ["c", "a", "d", "b"]) {
        log.wallMs++;
        log.ask(createApiKey(apiKeyId), ada);
      }
      revoke("d");
    });

    function ids(page: ReturnType<typeof listApiKeys>): string[] {
      return page.items.map(({ apiKeyId }) => apiKeyId);
    }

    it("of a user's is in the order of their creation, page by page", () => {
      const first = listApiKeysOf(log.store, "ada", null, 2, true);
      expect(ids(first)).deep.equal(["c", "a"]);
      const second = listApiKeysOf(log.store, "ada", first.lastRow, 2, true);
      expect(ids(second)).deep.equal(["d", "b"]);
      expect(second.lastRow).equal(null);
    });

    it("leaves revoked keys out by default", () => {
      expect(ids(listApiKeysOf(log.store, "ada", null, 10, false))).deep.equal(["c", "a", "b"]);
      expect(ids(listApiKeys(log.store, null, 10, false, () => true))).deep.equal([
        "a",
        FOUNDING.owner.apiKeyId,
        "b",
        "c",
      ]);
      expect(ids(listApiKeys(log.store, null, 10, true, () => true))).deep.equal([
        "a",
        FOUNDING.owner.apiKeyId,
        "b",
        "c",
        "d",
      ]);
    });

    it("leaves out keys of users who are not visible, and shows nothing of rows after the last visible one", () => {
      const page = listApiKeys(log.store, null, 3, false, (userId) => userId === "ada");
      expect(ids(page)).deep.equal(["a", "b", "c"]);
      expect(page.lastRow).equal(null);
      const first = listApiKeys(log.store, null, 2, false, (userId) => userId === "ada");
      expect(ids(first)).deep.equal(["a", "b"]);
      expect(ids(listApiKeys(log.store, first.lastRow, 2, false, (userId) => userId === "ada"))).deep.equal(["c"]);
      const none = listApiKeys(log.store, null, 2, false, () => false);
      expect([ids(none), none.lastRow]).deep.equal([[], null]);
    });

    it("shows no keys of other users", () => {
      expect(ids(listApiKeysOf(log.store, "ad", null, 10, true))).deep.equal([]);
      expect(ids(listApiKeysOf(log.store, OWNER.subject, null, 10, true))).deep.equal([FOUNDING.owner.apiKeyId]);
    });
  });

  it("are at most a thousand of a user: the oldest ended one is deleted for a new one, and no live one is", () => {
    for (let count = 0; count < API_KEYS_PER_USER_MAX; count++) {
      expect(verdict(log.ask(createApiKey(`k${count}`, count === 7 ? HOUR_MS : 0), ada))).equal("ok");
    }
    expect(verdict(log.ask(createApiKey("more"), ada))).equal("QUOTA");
    revoke("k9");
    log.wallMs += HOUR_MS;
    expect(verdict(log.ask(createApiKey("more1"), ada))).equal("ok");
    expect(readApiKey(log.store, "k7"), "the expired key is gone").equal(undefined);
    expect(verdict(log.ask(createApiKey("more2"), ada))).equal("ok");
    expect(readApiKey(log.store, "k9"), "the revoked key is gone").equal(undefined);
    expect(verdict(log.ask(createApiKey("more3"), ada))).equal("QUOTA");
  });
});
