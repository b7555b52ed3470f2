/**
 * The hosts that a certificate is valid for: its subject alternative names, and never its common name (RFC 9525).
 */

import type { X509Certificate } from "node:crypto";
import { isIP } from "node:net";

const DNS_PREFIX = "DNS:";
const IP_PREFIX = "IP Address:";

/** Whether the certificate is valid for the host, a name or an IP address. */
export function coversHost(certificate: X509Certificate, host: string): boolean {
  if (isIP(host) !== 0) {
    return certificate.checkIP(host) !== undefined;
  }
  return certificate.checkHost(host, { subject: "never", partialWildcards: false }) !== undefined;
}

/**
 * Whether a name in the certificate matches the pattern. It matches if the two are equal. A pattern that begins with
 * "*." also matches a name with exactly one label in that place, which may be a wildcard too.
 */
export function coversPattern(certificate: X509Certificate, pattern: string): boolean {
  const wanted = pattern.toLowerCase();
  const suffix = wanted.startsWith("*.") ? wanted.slice(1) : null;
  return alternativeNames(certificate).some((name) => {
    if (name === wanted) {
      return true;
    }
    return suffix !== null && name.endsWith(suffix) && isLabel(name.slice(0, -suffix.length));
  });
}

function isLabel(text: string): boolean {
  return text !== "" && !text.includes(".");
}

/** Names and IP addresses, in lower case. */
function alternativeNames(certificate: X509Certificate): string[] {
  const list = certificate.subjectAltName;
  // A quoted name contains characters that no host has, and could contain text that looks like further names.
  if (list === undefined || list.includes('"')) {
    return [];
  }
  return list.split(", ").flatMap((entry) => {
    for (const prefix of [DNS_PREFIX, IP_PREFIX]) {
      if (entry.startsWith(prefix)) {
        return [entry.slice(prefix.length).toLowerCase()];
      }
    }
    return [];
  });
}
