/** Reads the facts that the operator needs from PEM certificates. It does not decide which certificates to trust. */
import { createPrivateKey, X509Certificate } from "node:crypto";

export interface CertificateFacts {
  /** PEM of this certificate alone. */
  readonly pem: string;
  /** Lower-case hexadecimal digits, as members report it. */
  readonly serial: string;
  /** SHA-256, in lower-case hexadecimal digits, as members report it. */
  readonly fingerprint: string;
  /** Milliseconds since 1970. */
  readonly notBefore: number;
  readonly notAfter: number;
  readonly dnsNames: readonly string[];
  readonly certificate: X509Certificate;
}

/** A certificate with its key, and the chain from it to an authority. */
export interface CertificateWithKey {
  readonly facts: CertificateFacts;
  readonly chain: readonly CertificateFacts[];
  /** PKCS #8, in PEM. */
  readonly key: string;
}

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * All certificates of a text, in order.
 * @throws Error if one cannot be read
 */
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

/** @returns the certificate and key, or a problem, which never contains parts of the key */
export function readCertificateWithKey(
  certificates: string | undefined,
  key: string | undefined,
): CertificateWithKey | string {
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

/** Whether the second certificate has signed the first. */
export function isIssuedBy({ certificate }: CertificateFacts, issuer: CertificateFacts): boolean {
  return certificate.checkIssued(issuer.certificate) && certificate.verify(issuer.certificate.publicKey);
}

function dnsNamesOf({ subjectAltName = "" }: X509Certificate): string[] {
  return subjectAltName.split(", ").flatMap((name) => (name.startsWith("DNS:") ? [name.slice("DNS:".length)] : []));
}
