import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { temporaryDirectory } from "../../../testing/index.ts";
import type { PeerTlsFiles } from "../../test/harness/index.ts";
import { whyNoCertificates } from "../../test/peers/index.ts";
import { Certificates } from "./certificates.ts";

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

describe("the certificates of members", () => {
  let certificates: Certificates;
  let placement: PeerTlsFiles;

  before(function () {
    const why = whyNoCertificates();
    if (why !== null) {
      console.log(`      skipped: ${why}`);
      return this.skip();
    }
    certificates = new Certificates(join(temporaryDirectory(), "certificates"));
    placement = certificates.issue("q-0", "10.1.2.3");
  });

  const own = (): X509Certificate => new X509Certificate(readFileSync(placement.certificate));
  const trusted = (): X509Certificate[] =>
    [...readFileSync(placement.authorities, "utf8").matchAll(PEM)].map(([text]) => new X509Certificate(text));
  const isTrusted = (): boolean => trusted().some(({ publicKey }) => own().verify(publicKey));

  it("stand for the name and the address, and follow the address", () => {
    expect(own().checkHost("q-0.nemesis.test")).to.equal("q-0.nemesis.test");
    expect(own().checkIP("10.1.2.3")).to.equal("10.1.2.3");
    certificates.issue("q-0", "10.1.2.4");
    expect(own().checkIP("10.1.2.3")).to.equal(undefined);
    expect(own().checkIP("10.1.2.4")).to.equal("10.1.2.4");
    expect(isTrusted()).to.equal(true);
  });

  it("are trusted at every step from one authority to the next", () => {
    const former = own();
    const { authority } = certificates;
    certificates.announce();
    expect(trusted()).to.have.lengthOf(2);
    expect(own().fingerprint256).to.equal(former.fingerprint256);
    expect(isTrusted()).to.equal(true);
    certificates.replace();
    expect(certificates.authority).not.to.equal(authority);
    expect(own().issuer).to.equal(`CN=${certificates.authority}`);
    expect(isTrusted()).to.equal(true);
    certificates.retire();
    expect(isTrusted()).to.equal(true);
    expect(trusted().some(({ publicKey }) => former.verify(publicKey))).to.equal(false);
  });
});
