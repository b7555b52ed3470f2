import { expect } from "chai";
import { FoundedCluster, secrets } from "../../test/index.ts";
import { createPasswordReset, openPasswordReset } from "./password-reset.ts";

const HOUR_MS = 3_600_000;

describe("tokens for a forgotten password", () => {
  let cluster: FoundedCluster;

  beforeEach(() => {
    cluster = new FoundedCluster();
  });

  const tokenOf = (email: string, wallMs = 0) => createPasswordReset(cluster.state, email, wallMs)?.token ?? null;
  const opened = (token: string, wallMs = 0) => openPasswordReset(cluster.state, token, wallMs)?.userId ?? null;

  it("name their active user, for an hour (S42)", () => {
    const token = tokenOf(secrets.email.toUpperCase(), 1_000) ?? expect.fail("there is no token");
    expect(opened(token, 1_000 + HOUR_MS - 1)).equal(cluster.ownerId);
    expect(opened(token, 1_000 + HOUR_MS)).equal(null);
    expect(tokenOf("nobody@quoin.local")).equal(null);
  });

  it("end with every other password, and while the user is disabled (S42)", () => {
    const token = tokenOf(secrets.email) ?? expect.fail("there is no token");
    expect(opened(token)).equal(cluster.ownerId);
    for (const changes of [{ passwordHash: "another" }, { passwordVersion: 1 }, { status: "disabled" }] as const) {
      cluster = new FoundedCluster();
      cluster.changeOwner(changes);
      expect(opened(token), JSON.stringify(changes)).equal(null);
    }
    expect(tokenOf(secrets.email), "of a disabled user").equal(null);
  });
});
