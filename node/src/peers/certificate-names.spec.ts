import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect } from "chai";
import { temporaryDirectory } from "../../test/harness/index.ts";
import { TestAuthority, whyNoCertificates } from "../../test/peers/index.ts";
import { coversHost, coversPattern } from "./certificate-names.ts";

describe("names of certificates", () => {
  let authority: TestAuthority;

  before(function () {
    const reason = whyNoCertificates();
    if (reason !== null) {
      console.log(`      skipped: ${reason}`);
      this.skip();
    }
    authority = new TestAuthority(temporaryDirectory(), "authority");
  });

  function certificate(...names: string[]): X509Certificate {
    return new X509Certificate(readFileSync(authority.issue("q-0.a.example", names).certificate));
  }

  it("cover hosts by alternative names, one label for a wildcard, and never by the subject", () => {
    const wildcard = certificate("DNS:*.a.example", "IP:10.0.0.1", "IP:::1");
    expect(
      ["q-0.a.example", "Q-9.A.EXAMPLE", "10.0.0.1", "::1"].map((host) => coversHost(wildcard, host)),
    ).to.deep.equal([true, true, true, true]);
    const not = ["a.example", "x.q-0.a.example", "q-0.b.example", "10.0.0.2"];
    expect(not.map((host) => coversHost(wildcard, host))).to.deep.equal([false, false, false, false]);
    expect(coversHost(certificate(), "q-0.a.example")).to.equal(false);
    expect(coversHost(certificate("DNS:other.example"), "q-0.a.example")).to.equal(false);
  });

  it("are within a pattern if they have one label in its place", () => {
    const cases: readonly (readonly [string, string, boolean])[] = [
      ["DNS:q-0.a.example", "*.a.example", true],
      ["DNS:*.a.example", "*.a.example", true],
      ["DNS:Q-0.A.example", "*.a.EXAMPLE", true],
      ["DNS:q-0.a.example", "q-0.a.example", true],
      ["IP:10.0.0.1", "10.0.0.1", true],
      ["DNS:a.example", "*.a.example", false],
      ["DNS:x.q-0.a.example", "*.a.example", false],
      ["DNS:q-0.b-a.example", "*.a.example", false],
      ["DNS:q-1.a.example", "q-0.a.example", false],
      ["DNS:*.example", "*.a.example", false],
    ];
    for (const [name, pattern, isWithin] of cases) {
      expect(coversPattern(certificate(name), pattern), `${name} in ${pattern}`).to.equal(isWithin);
    }
    expect(coversPattern(certificate(), "*.a.example")).to.equal(false);
  });
});
