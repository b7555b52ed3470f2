import { inspect } from "node:util";
import { expect } from "chai";
import { testCertificate, testKey } from "../test/index.ts";
import { createAdminClient, createClient, createTokenSource, QuoinError, type TlsOptions } from "./index.ts";

/** Everything that takes TLS options. */
const takers: readonly ((tls: TlsOptions | undefined) => unknown)[] = [
  (tls) => createClient({ endpoints: ["h:1"], credentials: { token: "t" }, tls }).close(),
  (tls) => createAdminClient({ endpoint: "h:1", credentials: { token: "t" }, tls }).close(),
  (tls) => createTokenSource({ apiKey: "k", httpEndpoints: ["https://h"] }, tls),
];

describe("TLS options", () => {
  it("are refused on creation if they are unusable, without repeating them", () => {
    const wrong: readonly TlsOptions[] = [
      { ca: "no PEM" },
      { certificate: testCertificate, key: "no PEM" },
      { certificate: "no PEM", key: testKey },
      { certificate: testCertificate },
      { key: testKey },
    ];
    for (const take of takers) {
      for (const tls of wrong) {
        let failure: unknown;
        try {
          take(tls);
        } catch (error) {
          failure = error;
        }
        expect(failure).to.be.instanceOf(QuoinError).and.to.include({ code: "INVALID_ARGUMENT", reason: "BAD_FIELD" });
        expect(inspect(failure)).to.not.include("no PEM");
        expect(inspect(failure)).to.not.include(testKey.split("\n")[1]!);
      }
    }
  });

  it("are accepted as texts or bytes, or none", () => {
    const bytes = {
      ca: Buffer.from(testCertificate),
      certificate: Buffer.from(testCertificate),
      key: Buffer.from(testKey),
    };
    for (const take of takers) {
      for (const tls of [undefined, {}, bytes, { ca: testCertificate + testCertificate }]) take(tls);
    }
  });
});
