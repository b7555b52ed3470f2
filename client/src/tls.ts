/** The TLS options of a client, for gRPC and for HTTP. */

import { X509Certificate } from "node:crypto";
import { createSecureContext, type SecureContextOptions } from "node:tls";
import { bytes, record } from "./options-check.ts";
import { badField } from "./request-field.ts";

/** Certificates and key, all in PEM. */
export interface TlsOptions {
  /** Certificate authorities to trust instead of the system's. */
  readonly ca?: string | Uint8Array | undefined;
  /** The client certificate; needs its key. */
  readonly certificate?: string | Uint8Array | undefined;
  /** Private key of the certificate. */
  readonly key?: string | Uint8Array | undefined;
}

const tlsRule = record<TlsOptions>({ ca: bytes, certificate: bytes, key: bytes }, []);

/**
 * Checks the options before connecting: a connection would only fail, without the reason.
 *
 * @param tls undefined = not encrypted.
 * @throws QuoinError INVALID_ARGUMENT / BAD_FIELD if they are unusable.
 */
export function assertTls(tls: TlsOptions | undefined): void {
  if (tls === undefined) return;
  tlsRule(tls, "tls");
  if ((tls.certificate === undefined) !== (tls.key === undefined)) {
    throw badField("tls", "needs a certificate and its key together");
  }
  try {
    // OpenSSL ignores authorities that it cannot read.
    if (tls.ca !== undefined) new X509Certificate(tls.ca);
    createSecureContext(toNodeTls(tls));
  } catch (error) {
    // OpenSSL's messages name the problem, and quote nothing of the key.
    throw badField("tls", `cannot be used: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The options in the form of Node's own modules. */
export function toNodeTls(tls: TlsOptions): SecureContextOptions {
  return {
    ...(tls.ca === undefined ? {} : { ca: Buffer.from(tls.ca) }),
    ...(tls.certificate === undefined ? {} : { cert: Buffer.from(tls.certificate) }),
    ...(tls.key === undefined ? {} : { key: Buffer.from(tls.key) }),
  };
}
