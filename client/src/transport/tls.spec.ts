import { rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { inspect } from "node:util";
import { expect } from "chai";
import { temporaryDirectory } from "../../../testing/index.ts";
import { TEST_CERTIFICATE, TEST_KEY, UNTRUSTED_CERTIFICATE, UNTRUSTED_KEY } from "../../test/index.ts";
import { createAdminClient, createClient, createTokenSource, QuoinError, type TlsOptions } from "../index.ts";
import { Tls } from "./tls.ts";

/** Everything that takes TLS options. */
const TAKERS: readonly ((tls: TlsOptions | undefined) => unknown)[] = [
  (tls) => createClient({ endpoints: ["h:1"], credentials: { token: "t" }, tls }).close(),
  (tls) => createAdminClient({ endpoint: "h:1", credentials: { token: "t" }, tls }).close(),
  (tls) => createTokenSource({ credentials: { apiKey: "k" }, endpoints: ["h:1"], tls }),
];

describe("TLS options", () => {
  let directory: string;

  beforeEach(() => {
    directory = temporaryDirectory();
  });

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
    const caFile = file("ca.pem", TEST_CERTIFICATE);
    const certificateFile = file("cert.pem", TEST_CERTIFICATE);
    const keyFile = file("key.pem", TEST_KEY);
    const tls = Tls.of({ caFile, certificateFile, keyFile });
    const first = { ca: TEST_CERTIFICATE, cert: TEST_CERTIFICATE, key: TEST_KEY };
    const texts = (): unknown =>
      Object.fromEntries(Object.entries(tls.current()).map(([name, content]) => [name, String(content)]));
    expect(texts()).to.deep.equal(first);
    expect(tls.current(), "unchanged").to.equal(tls.current());
    file("ca.pem", "half a fi");
    expect(texts()).to.deep.equal(first);
    file("ca.pem", UNTRUSTED_CERTIFICATE);
    expect(texts()).to.deep.equal({ ...first, ca: UNTRUSTED_CERTIFICATE });
    file("cert.pem", UNTRUSTED_CERTIFICATE);
    expect(texts(), "a key of another certificate").to.deep.equal({ ...first, ca: UNTRUSTED_CERTIFICATE });
    file("key.pem", UNTRUSTED_KEY);
    expect(texts()).to.deep.equal({ ca: UNTRUSTED_CERTIFICATE, cert: UNTRUSTED_CERTIFICATE, key: UNTRUSTED_KEY });
    rmSync(caFile);
    expect(texts()).to.deep.equal({ ca: UNTRUSTED_CERTIFICATE, cert: UNTRUSTED_CERTIFICATE, key: UNTRUSTED_KEY });
  });

  it("are refused with the name of the file or field, and one of both", () => {
    const caFile = file("ca.pem", "no PEM");
    expect(refusal({ caFile })).to.include(`cannot be used: ${caFile}: `);
    expect(refusal({ caFile: `${caFile}-missing` })).to.include(`${caFile}-missing: ENOENT`);
    expect(refusal({ ca: "no PEM" })).to.include("cannot be used: ca: ");
    const keyFile = file("key.pem", UNTRUSTED_KEY);
    expect(refusal({ certificate: TEST_CERTIFICATE, keyFile })).to.include(`cannot be used: ${keyFile}: `);
    expect(refusal({ ca: TEST_CERTIFICATE, caFile })).to.include("must have ca or caFile, not both");
    expect(refusal({ keyFile })).to.include("needs a certificate and its key together");
  });

  it("are refused on creation if they are unusable, without repeating them", () => {
    const wrong: readonly TlsOptions[] = [
      { ca: "no PEM" },
      { certificate: TEST_CERTIFICATE, key: "no PEM" },
      { certificate: "no PEM", key: TEST_KEY },
      { certificate: TEST_CERTIFICATE },
      { key: TEST_KEY },
    ];
    for (const take of TAKERS) {
      for (const tls of wrong) {
        let failure: unknown;
        try {
          take(tls);
        } catch (error) {
          failure = error;
        }
        expect(failure).to.be.instanceOf(QuoinError).and.to.include({ code: "INVALID_ARGUMENT", reason: "BAD_FIELD" });
        expect(inspect(failure)).to.not.include("no PEM");
        expect(inspect(failure)).to.not.include(TEST_KEY.split("\n")[1]!);
      }
    }
  });

  it("are accepted as texts or bytes, or none", () => {
    const bytes = {
      ca: Buffer.from(TEST_CERTIFICATE),
      certificate: Buffer.from(TEST_CERTIFICATE),
      key: Buffer.from(TEST_KEY),
    };
    for (const take of TAKERS) {
      for (const tls of [undefined, {}, bytes, { ca: TEST_CERTIFICATE + TEST_CERTIFICATE }]) {
        take(tls);
      }
    }
  });
});
