import { expect } from "chai";
import { failure, ScriptedHttpInterface } from "../test/index.ts";
import { HttpClient } from "./http-client.ts";

describe("HttpClient", () => {
  let services: ScriptedHttpInterface[];

  beforeEach(async () => {
    services = [await ScriptedHttpInterface.start(), await ScriptedHttpInterface.start()];
  });

  afterEach(async () => {
    for (const service of services) await service.stop();
  });

  function clientWith(...tokens: string[]): HttpClient {
    const source = {
      token: () => tokens[0] ?? "",
      refresh: async () => {
        if (tokens.length > 1) tokens.shift();
        return tokens[0] ?? "";
      },
    };
    const httpEndpoints = services.map(({ url }) => url);
    return new HttpClient({ httpEndpoints, tokens: tokens.length === 0 ? undefined : source });
  }

  function asked(): number[] {
    return services.map((service) => service.asked.length);
  }

  it("asks the next member only while certainly nothing was done", async () => {
    const [first, second] = services as [ScriptedHttpInterface, ScriptedHttpInterface];
    second.answers = [[200, { done: true }]];
    first.answers = [[503, { error: "no leader", code: "unavailable" }]];
    expect(await clientWith().ask("POST", "/keys", {})).to.deep.equal({ done: true });
    for (const [status, code] of [
      [500, "UNAVAILABLE"],
      [504, "DEADLINE_EXCEEDED"],
    ] as const) {
      first.answers = [[status, { error: "who knows", code: "timeout" }]];
      const error = await failure(clientWith().ask("POST", "/keys", {}));
      expect(error).to.include({ code, outcome: "unknown", message: "who knows" });
    }
    expect(asked()).to.deep.equal([3, 1]);
    await first.stop();
    expect(await clientWith().ask("POST", "/keys", {})).to.deep.equal({ done: true });
    services = [second];
  });

  it("takes a new token once when the present one is refused", async () => {
    const [first] = services as [ScriptedHttpInterface];
    const refused = [401, { error: "expired", code: "token_expired" }] as const;
    first.answers = [refused, [200, { done: true }]];
    expect(await clientWith("old", "new").ask("GET", "/keys")).to.deep.equal({ done: true });
    expect(first.asked.map(({ authorization }) => authorization)).to.deep.equal(["Bearer old", "Bearer new"]);
    first.answers = [refused];
    expect(await failure(clientWith("only").ask("GET", "/keys"))).to.include({
      ...{ code: "UNAUTHENTICATED", reason: "TOKEN_EXPIRED", outcome: "not-executed" },
    });
    expect(asked()).to.deep.equal([3, 0]);
  });
});
