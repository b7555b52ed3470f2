import { expect } from "chai";
import { FakeRuntime, failure } from "../../test/index.ts";
import { QuoinError } from "../index.ts";
import { ExchangedTokenSource } from "./exchanged-token-source.ts";
import type { AccessToken } from "./token-exchange.ts";

describe("ExchangedTokenSource", () => {
  let exchanges: number;
  let exchange: () => AccessToken;
  let runtime: FakeRuntime;
  let source: ExchangedTokenSource;

  beforeEach(() => {
    exchanges = 0;
    exchange = () => ({ accessToken: `token-${exchanges}`, expiresInSeconds: 3_600 });
    runtime = new FakeRuntime();
    source = new ExchangedTokenSource(async () => {
      exchanges += 1;
      await new Promise((resolve) => setImmediate(resolve));
      return exchange();
    }, runtime);
  });

  /** Resolves when the source has another token. */
  async function tokenOtherThan(token: string): Promise<string> {
    let next = await source.token();
    while (next === token) {
      await new Promise((resolve) => setImmediate(resolve));
      next = await source.token();
    }
    return next;
  }

  it("fetches a token on first use, and keeps it", async () => {
    expect(exchanges).to.equal(0);
    expect(await source.token()).to.equal("token-1");
    expect(source.token()).to.equal("token-1");
    expect(exchanges).to.equal(1);
  });

  it("makes one exchange at a time, for any number of calls", async () => {
    const tokens = await Promise.all(Array.from({ length: 20 }, () => source.token()));
    expect(new Set(tokens)).to.deep.equal(new Set(["token-1"]));
    expect(exchanges).to.equal(1);
  });

  it("replaces the token at 80 % of its life, and uses the old one meanwhile", async () => {
    await source.token();
    runtime.nowMs += 0.8 * 3_600_000 - 1;
    expect(source.token()).to.equal("token-1");
    expect(exchanges).to.equal(1);
    runtime.nowMs += 1;
    expect(source.token(), "no call waits for the new one").to.equal("token-1");
    expect(await tokenOtherThan("token-1")).to.equal("token-2");
    expect(exchanges).to.equal(2);
  });

  it("uses the old token to its end when it cannot be replaced, and tries again every second", async () => {
    await source.token();
    exchange = () => {
      throw new QuoinError({ code: "UNAVAILABLE", reason: "NO_LEADER", message: "no leader" });
    };
    runtime.nowMs += 0.9 * 3_600_000;
    const before = exchanges;
    // Each call sees a clock that is one second later: so the pause between two tries has always passed.
    while (exchanges < before + 3) {
      runtime.nowMs += 1_000;
      expect(await source.token()).to.equal("token-1");
      await new Promise((resolve) => setImmediate(resolve));
    }
    runtime.nowMs += 0.1 * 3_600_000;
    expect(await failure(Promise.resolve(source.token()))).to.include({ code: "UNAVAILABLE", reason: "NO_LEADER" });
    exchange = () => ({ accessToken: "new", expiresInSeconds: 60 });
    expect(await source.token()).to.equal("new");
  });

  it("reports a member that was too slow as unavailable, so that operations try the next one", async () => {
    exchange = () => {
      throw new QuoinError({ code: "DEADLINE_EXCEEDED", reason: "DEADLINE", message: "no answer in time" });
    };
    const late = await failure(Promise.resolve(source.token()));
    expect(late).to.include({ code: "UNAVAILABLE", reason: "", message: "no answer in time" });
  });

  it("fetches another token when one is refused, once for all calls that had it", async () => {
    const first = await source.token();
    const others = await Promise.all([source.refresh(first), source.refresh(first), source.refresh(first)]);
    expect(others).to.deep.equal(["token-2", "token-2", "token-2"]);
    expect(await source.refresh(first), "it has another one already").to.equal("token-2");
    expect(exchanges).to.equal(2);
  });
});
