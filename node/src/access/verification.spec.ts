import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { AppliedLog, createUser } from "../../test/index.ts";
import { openVerification, verificationSecret, verificationToken } from "./verification.ts";

describe("verification tokens", () => {
  const userId = randomUUID();
  const random = (log: AppliedLog) => verificationSecret(log.store, "", null);
  const { token, sha256 } = verificationToken(userId, random(new AppliedLog()));
  let log: AppliedLog;

  beforeEach(() => {
    log = new AppliedLog();
    log.ask(createUser(userId, { tokenSha256: sha256 }));
  });

  it("name their user, and are different each time", () => {
    expect(token).match(new RegExp(`^${userId}\\.[A-Za-z0-9_-]{43}$`));
    expect(verificationToken(userId, random(log)).token).not.equal(token);
    expect(openVerification(log.store, token, log.wallMs)).deep.include({ sha256 });
    expect(openVerification(log.store, token, log.wallMs)?.user).include({ userId, status: "unverified" });
  });

  it("are not in the state, and cannot be guessed from it", () => {
    const secret = token.slice(token.indexOf(".") + 1);
    const dump = log.dump().join("\n");
    expect(dump).not.include(Buffer.from(secret).toString("hex"));
    expect(dump).include(Buffer.from(sha256).toString("hex"));
  });

  it("are valid until they expire, and only once", () => {
    expect(openVerification(log.store, token, log.wallMs + 59_999)).not.equal(null);
    expect(openVerification(log.store, token, log.wallMs + 60_000)).equal(null);
    log.lead({ kind: "verify-user", userId, tokenSha256: sha256, passwordHash: "" });
    expect(openVerification(log.store, token, log.wallMs)).equal(null);
  });

  it("are refused if any part of them differs", () => {
    const other = verificationToken(userId, random(log)).token;
    const stranger = verificationToken(randomUUID(), random(log)).token;
    const changed = token.slice(0, -1) + (token.endsWith("A") ? "B" : "A");
    for (const text of [other, stranger, changed, `${token} `, token.toUpperCase(), userId, "", ".", `${userId}.`]) {
      expect(openVerification(log.store, text, log.wallMs), text).equal(null);
    }
  });
});
