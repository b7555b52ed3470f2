import { expect } from "chai";
import { FakeRuntime, ScriptedTokenEndpoint } from "../../test/index.ts";
import { ApiKeyTokenSource } from "./api-key-token-source.ts";

describe("ApiKeyTokenSource", () => {
  let endpoint: ScriptedTokenEndpoint;
  let runtime: FakeRuntime;
  let source: ApiKeyTokenSource;

  beforeEach(async () => {
    endpoint = await ScriptedTokenEndpoint.start();
    runtime = new FakeRuntime();
    source = new ApiKeyTokenSource({ apiKey: "qk_key", httpEndpoints: [endpoint.url], tls: undefined, runtime });
  });

  afterEach(() => endpoint.stop());

  /** Resolves when the endpoint has got that many requests and the source has their answers. */
  async function tokenOtherThan(token: string): Promise<string> {
    let next = await source.token();
    while (next === token) {
      await new Promise((resolve) => setImmediate(resolve));
      next = await source.token();
    }
    return next;
  }

  it("fetches a token on first use, and keeps it", async () => {
    expect(endpoint.bodies).to.have.length(0);
    expect(await source.token()).to.equal("token-1");
    expect(source.token()).to.equal("token-1");
    expect(endpoint.bodies).to.deep.equal([{ api_key: "qk_key" }]);
  });

  it("makes one exchange at a time, for any number of calls", async () => {
    const tokens = await Promise.all(Array.from({ length: 20 }, () => source.token()));
    expect(new Set(tokens)).to.deep.equal(new Set(["token-1"]));
    expect(endpoint.bodies).to.have.length(1);
  });

  it("replaces the token at 80 % of its life, and uses the old one meanwhile", async () => {
    await source.token();
    runtime.nowMs += 0.8 * 3_600_000 - 1;
    expect(source.token()).to.equal("token-1");
    expect(endpoint.bodies).to.have.length(1);
    runtime.nowMs += 1;
    expect(source.token(), "no call waits for the new one").to.equal("token-1");
    expect(await tokenOtherThan("token-1")).to.equal("token-2");
    expect(endpoint.bodies).to.have.length(2);
  });

  it("uses the old token to its end when it cannot be replaced, and tries again every second", async () => {
    await source.token();
    endpoint.script = () => ({ status: 503, body: { error: "no leader", code: "unavailable" } });
    runtime.nowMs += 0.9 * 3_600_000;
    let asked = endpoint.bodies.length;
    // Each call sees a clock that is one second later: so the pause between two tries has always passed.
    while (endpoint.bodies.length < asked + 3) {
      runtime.nowMs += 1_000;
      expect(await source.token()).to.equal("token-1");
      await new Promise((resolve) => setImmediate(resolve));
    }
    asked = endpoint.bodies.length;
    runtime.nowMs += 0.1 * 3_600_000;
    let failure: unknown;
    try {
      await source.token();
    } catch (error) {
      failure = error;
    }
    expect(failure).to.include({ code: "UNAVAILABLE" });
    endpoint.script = () => ({ status: 200, body: { access_token: "new", expires_in: 60, token_type: "Bearer" } });
    expect(await source.token()).to.equal("new");
  });

  it("fetches another token when one is refused, once for all calls that had it", async () => {
    const first = await source.token();
    const others = await Promise.all([source.refresh(first), source.refresh(first), source.refresh(first)]);
    expect(others).to.deep.equal(["token-2", "token-2", "token-2"]);
    expect(await source.refresh(first), "it has another one already").to.equal("token-2");
    expect(endpoint.bodies).to.have.length(2);
  });
});
