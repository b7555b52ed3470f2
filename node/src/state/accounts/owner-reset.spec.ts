import { expect } from "chai";
import { AppliedLog, createUser, FOUNDING, requestOf, updateUser } from "../../../test/index.ts";
import { CoordinationError } from "../core/index.ts";
import type { ResetOwner } from "./account-commands.ts";
import { apiKeysOf, readApiKeyByPrefix, readUser, readUserByEmail, refusalOf } from "./principals.ts";
import { readVerification } from "./users.ts";

const NEW_KEY = { apiKeyId: "key-2", prefix: "qk_11111111", sha256: new Uint8Array(32).fill(0x66) };
const EVERYTHING = { access: "admin", namespace: "*" } as const;

function resetOf(changes: Partial<ResetOwner> = {}): ResetOwner {
  const content = { userId: "user-new", email: "owner@QUOIN.local", passwordHash: "scrypt$new", apiKey: null };
  return { kind: "reset-owner", ...content, subject: "admin", request: null, ...changes };
}

describe("a reset of the owner", () => {
  let log: AppliedLog;

  beforeEach(() => {
    log = new AppliedLog();
  });

  function reasonOf(operation: ResetOwner): string {
    const answer = log.lead(operation)?.answer;
    return answer instanceof CoordinationError ? answer.reason : expect.fail("it was not refused");
  }

  it("gives the user with the address a new password, and leaves its id and its API keys", () => {
    const { owner } = FOUNDING;
    const answer = log.lead(resetOf({ apiKey: NEW_KEY }))?.answer;
    expect(answer).to.deep.include({ kind: "reset-owner", userId: owner.userId, created: false });
    expect(readUserByEmail(log.store, owner.email)).to.include({ userId: owner.userId, passwordHash: "scrypt$new" });
    const prefixes = apiKeysOf(log.store, owner.userId).map(({ prefix }) => prefix);
    expect(prefixes).to.have.members([owner.apiKeyPrefix, NEW_KEY.prefix]);
    expect(
      refusalOf(log.store, { subject: owner.userId, apiKeyId: NEW_KEY.apiKeyId }, EVERYTHING, log.wallMs),
    ).to.equal(null);
  });

  it("ends the logins of the user, but not the tokens of API keys", () => {
    const { owner } = FOUNDING;
    const refusalAs = (apiKeyId: string) =>
      refusalOf(log.store, { subject: owner.userId, apiKeyId }, EVERYTHING, log.wallMs)?.reason;
    expect([refusalAs(""), refusalAs(owner.apiKeyId)]).to.deep.equal([undefined, undefined]);
    log.lead(resetOf());
    expect([refusalAs(""), refusalAs(owner.apiKeyId)]).to.deep.equal(["TOKEN_REVOKED", undefined]);
  });

  it("makes an owner with all rights, if there is no user with the address", () => {
    const answer = log.lead(resetOf({ email: "second@quoin.local" }))?.answer;
    expect(answer).to.deep.include({ userId: "user-new", created: true });
    expect(readUser(log.store, "user-new")).to.deep.include({ role: "owner", namespaces: ["*"], status: "active" });
    expect(refusalOf(log.store, { subject: "user-new", apiKeyId: "" }, EVERYTHING, log.wallMs)).to.equal(null);
  });

  it("restores a user who was a viewer, disabled, or never verified", () => {
    for (const isDisabled of [false, true]) {
      const userId = `user-${isDisabled}`;
      const email = `${userId}@quoin.local`;
      log.result(createUser(userId, { email, role: "viewer" }));
      if (isDisabled) {
        log.lead(resetOf({ email }));
        log.result(updateUser(userId, { status: "disabled" }));
      }
      log.lead(resetOf({ email }));
      expect(readUser(log.store, userId)).to.deep.include({ role: "owner", namespaces: ["*"], status: "active" });
      expect(readVerification(log.store, userId), "there is no open verification").to.equal(undefined);
    }
  });

  it("does nothing more when it is repeated, by its content or by its request", () => {
    log.lead(resetOf({ apiKey: NEW_KEY }));
    const keys = apiKeysOf(log.store, FOUNDING.owner.userId);
    log.lead(resetOf({ apiKey: { ...NEW_KEY, apiKeyId: "key-3" } }));
    expect(apiKeysOf(log.store, FOUNDING.owner.userId)).to.deep.equal(keys);
    const request = requestOf(1);
    log.lead(resetOf({ request, passwordHash: "first" }));
    log.lead(resetOf({ passwordHash: "second" }));
    expect(log.lead(resetOf({ request, passwordHash: "salted anew" }))?.replayed).to.equal("yes");
    expect(readUserByEmail(log.store, FOUNDING.owner.email)?.passwordHash).to.equal("second");
  });

  it("refuses an API key that was revoked or belongs to another user, and changes nothing then", () => {
    const { owner } = FOUNDING;
    const before = readUserByEmail(log.store, owner.email);
    const foreign = { apiKeyId: "key-2", prefix: owner.apiKeyPrefix, sha256: new Uint8Array(32) };
    expect(reasonOf(resetOf({ apiKey: foreign }))).to.equal("BAD_FIELD");
    const own = { ...foreign, sha256: owner.apiKeySha256 };
    expect(reasonOf(resetOf({ apiKey: own, email: "second@quoin.local" }))).to.equal("BAD_FIELD");
    log.result({ kind: "revoke-api-key", apiKeyId: owner.apiKeyId });
    expect(reasonOf(resetOf({ apiKey: own }))).to.equal("BAD_FIELD");
    expect(readUserByEmail(log.store, owner.email)).to.deep.equal(before);
    expect(readUserByEmail(log.store, "second@quoin.local")).to.equal(undefined);
    expect(readApiKeyByPrefix(log.store, NEW_KEY.prefix)).to.equal(undefined);
  });
});
