import { join } from "node:path";
import { expect } from "chai";
import { pino } from "pino";
import { temporaryDirectory } from "../../test/harness/index.ts";
import { TestAuthority, whyNoCertificates } from "../../test/peers/index.ts";
import { UsageError } from "../command-line/index.ts";
import { openTls } from "./listening.ts";

describe("certificates for clients, when a member starts", () => {
  before(function () {
    if (whyNoCertificates() !== null) {
      this.skip();
    }
  });

  it("are refused with the names of the wrong flags and files", async () => {
    const directory = temporaryDirectory();
    const authority = new TestAuthority(directory, "authority");
    const [own, other] = [authority.issue("own", []), authority.issue("other", [])];
    const missing = join(directory, "missing");
    const good = { certificate: own.certificate, key: own.key, clientAuthorities: null };
    for (const [paths, flags, files] of [
      [{ ...good, certificate: missing }, "--tls-cert", [missing]],
      [{ ...good, key: missing }, "--tls-key", [missing]],
      [{ ...good, clientAuthorities: missing }, "--tls-client-ca", [missing]],
      [{ ...good, clientAuthorities: other.key }, "--tls-client-ca", [other.key]],
      [{ ...good, key: other.key }, "--tls-cert, --tls-key", [own.certificate, other.key]],
    ] as const) {
      const error: unknown = await openTls(paths, pino({ level: "silent" })).catch((caught: unknown) => caught);
      expect(error).instanceOf(UsageError);
      const { message } = error as UsageError;
      expect(message.slice(0, message.indexOf(":"))).equal(flags);
      for (const file of files) {
        expect(message).include(file);
      }
    }
  });
});
