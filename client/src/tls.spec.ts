import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { inspect } from "node:util";
import { expect } from "chai";
import { testCertificate, testKey, untrustedCertificate, untrustedKey } from "../test/index.ts";
import { createAdminClient, createClient, createTokenSource, QuoinError, type TlsOptions } from "./index.ts";
import { Tls } from "./tls.ts";

/** Everything that takes TLS options. */
const takers: readonly ((tls: TlsOptions | undefined) => unknown)[] = [
  (tls) => createClient({ endpoints: ["h:1"], credentials: { token: "t" }, tls }).close(),
  (tls) => createAdminClient({ endpoint: "h:1", credentials: { token: "t" }, tls }).close(),
  (tls) => createTokenSource({ apiKey: "k", httpEndpoints: ["https://h"] }, tls),
];

describe("TLS options", () => {
  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(path.join(tmpdir(), "quoin-test-tls-"));
  });

  afterEach(() => rmSync(directory, { recursive: true }));

  function file(name: string, content: string): string {
    const at = path.join(directory, name);
    writeFileSync(at, content);
    return at;
  }

  function refusal(options: TlsOptions): string {
    try {
      Tls.of(options);
    } catch (error) {
      return (error as Error).message;
    }
    return "";
  }

  it("are read from files, again and again, and stay as they were while a file cannot be used", () => {
    const caFile = file("ca.pem", testCertificate);
    const certificateFile = file("cert.pem", testCertificate);
    const keyFile = file("key.pem", testKey);
    const tls = Tls.of({ caFile, certificateFile, keyFile });
    const first = { ca: testCertificate, cert: testCertificate, key: testKey };
    const texts = (): unknown =>
      Object.fromEntries(Object.entries(tls.current()).map(([name, content]) => [name, String(content)]));
    expect(texts()).to.deep.equal(first);
    expect(tls.current(), "unchanged").to.equal(tls.current());
    file("ca.pem", "half a fi");
    expect(texts()).to.deep.equal(first);
    file("ca.pem", untrustedCertificate);
    expect(texts()).to.deep.equal({ ...first, ca: untrustedCertificate });
    file("cert.pem", untrustedCertificate);
    expect(texts(), "a key of another certificate").to.deep.equal({ ...first, ca: untrustedCertificate });
    file("key.pem", untrustedKey);
    expect(texts()).to.deep.equal({ ca: untrustedCertificate, cert: untrustedCertificate, key: untrustedKey });
    rmSync(caFile);
    expect(texts()).to.deep.equal({ ca: untrustedCertificate, cert: untrustedCertificate, key: untrustedKey });
  });

  it("are refused with the name of the file or field, and one of both", () => {
    const caFile = file("ca.pem", "no PEM");
    expect(refusal({ caFile })).to.include(`cannot be used: ${caFile}: `);
    expect(refusal({ caFile: `${caFile}-missing` })).to.include(`${caFile}-missing: ENOENT`);
    expect(refusal({ ca: "no PEM" })).to.include("cannot be used: ca: ");
    const keyFile = file("key.pem", untrustedKey);
    expect(refusal({ certificate: testCertificate, keyFile })).to.include(`cannot be used: ${keyFile}: `);
    expect(refusal({ ca: testCertificate, caFile })).to.include("must have ca or caFile, not both");
    expect(refusal({ keyFile })).to.include("needs a certificate and its key together");
  });

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
      for (const tls of [undefined, {}, bytes, { ca: testCertificate + testCertificate }]) {
        take(tls);
      }
    }
  });
});
