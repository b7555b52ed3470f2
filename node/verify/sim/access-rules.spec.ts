import { expect } from "chai";
import { type ClientOperation, CoordinationError, type Outcome, type Principal } from "../../src/state/index.ts";
import { createApiKey, createUser, OWNER, TOKEN_SHA256, updateUser } from "../../test/index.ts";
import { AccessRules } from "./access-rules.ts";
import { ObservedLog } from "./observed-log.ts";

const ANNA = "user-anna";
const KEY = "api-key-of-anna";
const BY_LOGIN: Principal = { subject: ANNA, apiKeyId: "" };
const BY_KEY: Principal = { subject: ANNA, apiKeyId: KEY };
const PUT: ClientOperation = {
  kind: "put-key",
  namespace: "default",
  key: Buffer.from("k"),
  value: Buffer.from("v"),
  ttlSeconds: 0,
  expectedModRevision: undefined,
  returnPrevious: false,
};
const DONE: Outcome = { answer: { kind: "delete-log", logId: new Uint8Array(16), revision: 9 }, replayed: "yes" };
const REFUSED: Outcome = { answer: new CoordinationError("TOKEN_REVOKED", ""), replayed: "no" };

describe("the rules of revocation", () => {
  let rules: AccessRules;
  let log: ObservedLog;

  beforeEach(() => {
    rules = new AccessRules();
    log = new ObservedLog(rules);
    log.ask(createUser(ANNA));
    log.lead({ kind: "verify-user", userId: ANNA, tokenSha256: TOKEN_SHA256, passwordHash: "" });
    log.ask(createApiKey(KEY), { principal: BY_LOGIN });
  });

  const put = (principal: Principal, pretended?: Outcome) => {
    return log.ask(PUT, { principal, pretend: () => (pretended === undefined ? {} : { outcome: pretended }) }).answer;
  };
  const revokeKey = () => log.ask({ kind: "revoke-api-key", apiKeyId: KEY });
  const disable = () => log.ask(updateUser(ANNA, { status: "disabled" }));

  const broken = (rule: string, act: () => void): void => {
    expect(act, rule).to.throw(rule);
  };

  it("hold for what the state machine makes of the end of a key, and then of its user", () => {
    put(BY_KEY);
    expect(rules.revokedAt(BY_KEY)).to.equal(null);
    revokeKey();
    const revokedAt = log.log.rows.length;
    put(BY_KEY);
    put(BY_LOGIN);
    revokeKey();
    disable();
    put(BY_LOGIN);
    log.ask({ kind: "revoke-api-key", apiKeyId: KEY }, { principal: BY_LOGIN });
    put(OWNER);
    expect(rules.revokedAt(BY_KEY)).to.equal(revokedAt);
    expect(rules.revokedAt(BY_LOGIN)).to.equal(revokedAt + 4);
    expect(rules.revokedAt(OWNER)).to.equal(null);
    expect(rules.revocations).to.equal(2);
  });

  it("let nothing be done for a revoked caller, unless it was done before", () => {
    put(BY_KEY, DONE);
    revokeKey();
    put(BY_LOGIN, DONE);
    broken("revocation: nothing is done for whom was revoked before", () => put(BY_KEY, DONE));
    disable();
    broken("revocation: nothing is done for whom was revoked before", () => put(BY_LOGIN, DONE));
    const other: Outcome = { answer: new CoordinationError("KEY_NOT_FOUND", ""), replayed: "no" };
    broken("revocation: nothing is done for whom was revoked before", () => put(BY_LOGIN, other));
  });

  it("let refused commands change nothing", () => {
    revokeKey();
    broken("revocation: what is refused changes nothing", () => {
      log.ask(PUT, { principal: BY_KEY, pretend: ({ revision }) => ({ revisionAfter: revision + 1 }) });
    });
  });

  it("let no caller be refused unless it was revoked", () => {
    broken("revocation: only a revoked caller is refused as revoked", () => put(BY_KEY, REFUSED));
    revokeKey();
    put(BY_KEY, REFUSED);
    broken("revocation: only a revoked caller is refused as revoked", () => put(BY_LOGIN, REFUSED));
  });

  it("count a revocation that was refused as none", () => {
    const refused: Outcome = { answer: new CoordinationError("API_KEY_NOT_FOUND", ""), replayed: "no" };
    log.ask({ kind: "revoke-api-key", apiKeyId: KEY }, { pretend: () => ({ outcome: refused }) });
    log.ask(updateUser(ANNA, { status: "active" }));
    expect([rules.revokedAt(BY_KEY), rules.revokedAt(BY_LOGIN)]).to.deep.equal([null, null]);
  });

  it("I22: let nothing be acknowledged as revoked that the log does not have", () => {
    revokeKey();
    rules.onAcknowledged({ kind: "api-key", id: KEY });
    broken("I22 a revocation that was acknowledged is in the log", () => {
      rules.onAcknowledged({ kind: "user", id: ANNA });
    });
  });

  describe("for calls", () => {
    const late = "revocation: what begins after it was acknowledged is refused";

    it("let one succeed that began before the revocation was acknowledged, and none that begins later", () => {
      const early = rules.begin(BY_KEY, "get k");
      const refused = rules.begin(BY_KEY, "get k");
      revokeKey();
      const meanwhile = rules.begin(BY_KEY, "get k");
      rules.onAcknowledged({ kind: "api-key", id: KEY });
      early(false);
      refused(true);
      meanwhile(false);
      rules.begin(BY_KEY, "get k")(true);
      rules.begin(BY_LOGIN, "get k")(false);
      broken(late, () => rules.begin(BY_KEY, "get k")(false));
      disable();
      rules.onAcknowledged({ kind: "user", id: ANNA });
      broken(late, () => rules.begin(BY_LOGIN, "get k")(false));
      rules.begin(OWNER, "get k")(false);
      expect(rules.refused).to.equal(2);
    });

    it("let no call be refused of a caller that was not revoked", () => {
      const read = rules.begin(BY_KEY, "get k");
      broken("revocation: only a revoked caller is refused as revoked", () => read(true));
      revokeKey();
      read(true);
      broken("revocation: only a revoked caller is refused as revoked", () => rules.begin(BY_LOGIN, "get k")(true));
    });
  });
});
