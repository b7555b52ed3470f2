/** Checks certificates from elsewhere: from cert-manager, or from the user. */
import {
  type CertificateFacts,
  type CertificateWithKey,
  factsOf,
  isIssuedBy,
  readCertificateWithKey,
} from "./certificate-facts.ts";

/** A certificate and key, with the authorities from the same Secret. */
export interface ProvidedCertificate extends CertificateWithKey {
  readonly authorities: readonly CertificateFacts[];
}

/** Extended key usages: members serve and dial with the certificate. */
const USAGES = new Map([
  ["1.3.6.1.5.5.7.3.1", "server authentication"],
  ["1.3.6.1.5.5.7.3.2", "client authentication"],
]);

/**
 * @param data text by key: `tls.crt`, `tls.key`, `ca.crt`
 * @param dnsNames names that the certificate must cover, also by wildcards
 * @returns the set, or a message for people about the first problem
 */
export function readProvided(
  data: ReadonlyMap<string, string>,
  dnsNames: readonly string[],
  now: number,
): ProvidedCertificate | string {
  const keyed = readCertificateWithKey(data.get("tls.crt"), data.get("tls.key"));
  if (typeof keyed === "string") {
    return keyed;
  }
  let authorities: CertificateFacts[];
  try {
    authorities = factsOf(data.get("ca.crt") ?? "");
  } catch {
    return "an authority in its ca.crt cannot be read";
  }
  if (authorities.length === 0) {
    return "its ca.crt has no authority, and members need one to trust";
  }
  return problemOf(keyed, authorities, dnsNames, now) ?? { ...keyed, authorities };
}

function problemOf(
  { facts, chain }: CertificateWithKey,
  authorities: readonly CertificateFacts[],
  dnsNames: readonly string[],
  now: number,
): string | null {
  if (facts.notBefore > now || facts.notAfter <= now) {
    const { validFrom, validTo } = facts.certificate;
    return `its certificate is valid from ${validFrom} to ${validTo}`;
  }
  if (!leadsTo(authorities, chain)) {
    return "its certificate leads to no authority in its ca.crt";
  }
  const missing = dnsNames.filter((name) => !facts.dnsNames.includes(name));
  if (missing.length > 0) {
    return `its certificate is not for ${missing.join(", ")}`;
  }
  const usages = facts.certificate.keyUsage as string[] | undefined;
  const unfit = [...USAGES].filter(([usage]) => usages !== undefined && !usages.includes(usage));
  return unfit.length > 0 ? `its certificate is not for ${unfit.map(([, name]) => name).join(" and ")}` : null;
}

/** Whether each certificate is signed by the next, and the last is an authority or signed by one. */
function leadsTo(authorities: readonly CertificateFacts[], chain: readonly CertificateFacts[]): boolean {
  for (const [position, certificate] of chain.entries()) {
    if (authorities.some((authority) => isIssuedBy(certificate, authority))) {
      return true;
    }
    const next = chain[position + 1];
    if (next === undefined || !isIssuedBy(certificate, next)) {
      return false;
    }
  }
  return false;
}
