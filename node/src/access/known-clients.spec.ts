import { expect } from "chai";
import { KnownClients } from "./known-clients.ts";

const DAY_MS = 86_400_000;

describe("KnownClients", () => {
  let nowMs: number;
  let familiar: KnownClients;

  beforeEach(() => {
    nowMs = 0;
    familiar = new KnownClients(() => nowMs, 2);
  });

  it("know an account only at the address from which it has logged in", () => {
    familiar.add("a", "1");
    expect(familiar.has("a", "1")).equal(true);
    expect([familiar.has("b", "1"), familiar.has("a", "2")]).deep.equal([false, false]);
  });

  it("forget it a week later, unless it logs in again", () => {
    familiar.add("a", "1");
    familiar.add("b", "1");
    nowMs += 6 * DAY_MS;
    familiar.add("b", "1");
    nowMs += 2 * DAY_MS;
    expect([familiar.has("a", "1"), familiar.has("b", "1")]).deep.equal([false, true]);
  });

  it("forget the least recent of too many", () => {
    familiar.add("a", "1");
    familiar.add("b", "1");
    familiar.add("a", "1");
    familiar.add("c", "1");
    expect([familiar.has("a", "1"), familiar.has("b", "1"), familiar.has("c", "1")]).deep.equal([true, false, true]);
  });
});
