/** What certificates in PEM say, as far as the operator asks. It has no idea whom to trust. */
import { createPrivateKey, X509Certificate } from "node:crypto";

export interface CertificateFacts {
  /** This certificate alone. */
  readonly pem: string;
  /** Lower-case hexadecimal digits, as members report it. */
  readonly serial: string;
  /** SHA-256, in lower-case hexadecimal digits, as members report it. */
  readonly fingerprint: string;
  /** Milliseconds of the wall clock. */
  readonly notBefore: number;
  readonly notAfter: number;
  readonly dnsNames: readonly string[];
  readonly certificate: X509Certificate;
}

/** A certificate with its key, and what leads from it to an authority. */
export interface Keyed {
  readonly facts: CertificateFacts;
  readonly chain: readonly CertificateFacts[];
  /** PKCS #8 in PEM. */
  readonly key: string;
}

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** All certificates of a text, in its order. Raises an Error where one cannot be read. */
export function factsOf(text: string): CertificateFacts[] {
  return (text.match(PEM_CERTIFICATE) ?? []).map((pem) => {
    const certificate = new X509Certificate(pem);
    return {
      pem,
      serial: certificate.serialNumber.toLowerCase(),
      fingerprint: certificate.fingerprint256.replaceAll(":", "").toLowerCase(),
      notBefore: certificate.validFromDate.getTime(),
      notAfter: certificate.validToDate.getTime(),
      dnsNames: dnsNamesOf(certificate),
      certificate,
    };
  });
}

/** @returns why the texts are no certificate with its key, or both. Says nothing of what is in the key. */
export function readKeyed(certificates: string | undefined, key: string | undefined): Keyed | string {
  if (certificates === undefined || key === undefined) {
    return `it lacks ${certificates === undefined ? "the certificate" : "the key"}`;
  }
  let chain: CertificateFacts[];
  try {
    chain = factsOf(certificates);
  } catch {
    return "its certificate cannot be read";
  }
  const [facts] = chain;
  if (facts === undefined) {
    return "it holds no certificate";
  }
  try {
    return facts.certificate.checkPrivateKey(createPrivateKey(key))
      ? { facts, chain, key }
      : "its key is that of another certificate";
  } catch {
    return "its key cannot be read";
  }
}

/** Whether the second has signed the first. */
export function isIssuedBy({ certificate }: CertificateFacts, issuer: CertificateFacts): boolean {
  return certificate.checkIssued(issuer.certificate) && certificate.verify(issuer.certificate.publicKey);
}

function dnsNamesOf({ subjectAltName = "" }: X509Certificate): string[] {
  return subjectAltName.split(", ").flatMap((name) => (name.startsWith("DNS:") ? [name.slice("DNS:".length)] : []));
}
