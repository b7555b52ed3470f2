import { expect } from "chai";
import { refused } from "../../test/index.ts";
import { requireEmail } from "./email.ts";

describe("e-mail addresses", () => {
  for (const email of [
    "ada@example.com",
    "Ada.Lovelace+ops@mail.example.co.uk",
    "owner@localhost",
    "o'hara_1@x-1.example",
    "zoë@exämple.de",
    `${"l".repeat(64)}@example.com`,
  ]) {
    it(`may be ${email.slice(0, 40)}`, () => {
      requireEmail(email, "email");
    });
  }

  for (const email of [
    "",
    "ada",
    "@example.com",
    "ada@",
    "ada@@example.com",
    "ada@b@example.com",
    "ada lovelace@example.com",
    "ada@example..com",
    "ada@.example.com",
    "ada@example.com.",
    "ada@-example.com",
    "ada@example-.com",
    "ada@exa_mple.com",
    "ada@example.com\n",
    "ada\u0000@example.com",
    "Ada <ada@example.com>",
    "ada@example.com,eve@example.com",
    `${"l".repeat(65)}@example.com`,
    `ada@${"d".repeat(64)}.com`,
    `ada@${"d.".repeat(130)}com`,
    "ada\ud800@example.com",
  ]) {
    it(`may not be ${JSON.stringify(email.slice(0, 40))}`, async () => {
      const error = await refused(() => requireEmail(email, "owner.email"));
      expect(error.reason).to.equal("BAD_FIELD");
      expect(error.details.get("field")).to.equal("owner.email");
      expect(error.message).to.match(/^owner\.email must be an e-mail address/);
    });
  }
});
