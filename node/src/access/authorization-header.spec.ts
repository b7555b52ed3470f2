import { expect } from "chai";
import { refused } from "../../test/index.ts";
import { bearerToken } from "./authorization-header.ts";

const TOKEN = "eyJh.bGci-_~+/.OiJF==";

describe("authorization header", () => {
  for (const value of [`Bearer ${TOKEN}`, `bearer ${TOKEN}`, `BEARER ${TOKEN}`, `Bearer   ${TOKEN}`]) {
    it(`gives the token of "${value.slice(0, 10)}…"`, () => {
      expect(bearerToken([value])).to.equal(TOKEN);
    });
  }

  const malformed: readonly (readonly [string, readonly string[], string])[] = [
    ["no value", [], "is missing"],
    ["two values", [`Bearer ${TOKEN}`, `Bearer ${TOKEN}`], "2 times"],
    ["an empty value", [""], "scheme"],
    ["another scheme", [`Basic ${TOKEN}`], "scheme"],
    ["a scheme that only begins like it", [`BearerX ${TOKEN}`], "scheme"],
    ["the token alone", [TOKEN], "scheme"],
    ["a tab instead of a space", [`Bearer\t${TOKEN}`], "scheme"],
    ["the scheme alone", ["Bearer"], "no token"],
    ["the scheme and a space", ["Bearer "], "no token"],
    ["two tokens", [`Bearer ${TOKEN} ${TOKEN}`], "one token"],
    ["two tokens with a comma", [`Bearer ${TOKEN},${TOKEN}`], "one token"],
    ["a header within the header", [`Bearer ${TOKEN}, Bearer ${TOKEN}`], "one token"],
    ["a trailing space", [`Bearer ${TOKEN} `], "one token"],
    ["a trailing line break", [`Bearer ${TOKEN}\n`], "one token"],
    ["a leading space", [` Bearer ${TOKEN}`], "scheme"],
    ["quotes", [`Bearer "${TOKEN}"`], "one token"],
    ["padding in the middle", ["Bearer ab=c"], "one token"],
    ["letters beyond ASCII", ["Bearer tökén"], "one token"],
  ];
  for (const [name, values, problem] of malformed) {
    it(`refuses ${name}, and does not repeat it`, async () => {
      const error = await refused(() => bearerToken(values));
      expect([error.code, error.reason]).to.deep.equal(["UNAUTHENTICATED", "TOKEN_INVALID"]);
      expect(error.message).to.include("authorization").and.include(problem);
      expect(error.message).not.to.include("eyJh");
    });
  }
});
