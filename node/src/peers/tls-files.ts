/**
 * The certificate, key and authorities of this member, read from files and reread while it runs: either those for other
 * members or those for clients.
 *
 * A set counts only if it is valid: the key belongs to the certificate, and the dates are right. For members the
 * certificate must also lead to one of the authorities, through the certificates in its own file, because the other
 * members' certificates do. For clients the authorities are unrelated to the presented certificate. Any other content
 * is reported, and the last valid set stays.
 */

import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createSecureContext, type SecureContext } from "node:tls";
import type { PeerClock } from "./peer-clock.ts";

/** Paths of files in PEM. */
export interface TlsFilePaths {
  /** The member's certificate, then the certificates between it and an authority. */
  readonly certificate: string;
  readonly key: string;
  /** One or more authorities: more while one replaces another. */
  readonly authorities: string;
}

/** Paths of files in PEM. */
export interface ServerTlsFilePaths {
  /** The certificate for clients, then the certificates between it and an authority that clients know. */
  readonly certificate: string;
  readonly key: string;
  /** The authorities of clients, whose certificate one of them must have issued; null = clients need no certificate. */
  readonly clientAuthorities: string | null;
}

/** A valid set, in the form that Node takes. */
export interface TlsSet {
  readonly cert: string;
  readonly key: string;
  readonly ca: string | undefined;
  readonly certificate: X509Certificate;
  /** The authorities in `ca`; none if clients need no certificate. */
  readonly authorities: readonly X509Certificate[];
  readonly context: SecureContext;
}

export interface TlsFilesUser {
  /** A different valid set was found. */
  onChanged(set: TlsSet): void;
  /** The problem with the files, at each change; null once they are valid again. */
  onProblem(problem: string | null): void;
}

export const TLS_VERSION = "TLSv1.3";
/** We do not choose the clients, so older ones must work. */
export const CLIENT_TLS_VERSION = "TLSv1.2";
const PEM_BEGIN = /-----BEGIN CERTIFICATE-----/g;
const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The files are not a valid set. */
export class TlsFilesError extends Error {}

export class TlsFiles {
  readonly #read: () => Promise<TlsSet>;
  readonly #clock: PeerClock;
  #set: TlsSet;
  #problem: string | null = null;
  #cancel: () => void = () => {};
  #stopped = false;

  private constructor(read: () => Promise<TlsSet>, clock: PeerClock, set: TlsSet) {
    this.#read = read;
    this.#clock = clock;
    this.#set = set;
  }

  /** Reads the files. Rejects with a TlsFilesError unless they are a valid set. */
  static async open(paths: TlsFilePaths, clock: PeerClock): Promise<TlsFiles> {
    const read = () => readSet(paths, clock.wallMs());
    return new TlsFiles(read, clock, await read());
  }

  /** The same for the certificate that clients see. */
  static async openServer(paths: ServerTlsFilePaths, clock: PeerClock): Promise<TlsFiles> {
    const read = () => readServerSet(paths, clock.wallMs());
    return new TlsFiles(read, clock, await read());
  }

  /** The last valid set. */
  get set(): TlsSet {
    return this.#set;
  }

  /** Rereads the files, each time this many milliseconds after the last read. */
  poll(intervalMs: number, user: TlsFilesUser): void {
    this.#cancel = this.#clock.after(intervalMs, () => {
      this.#read().then(
        (set) => this.#onRead(set, intervalMs, user),
        (error: unknown) => this.#onFailed(error, intervalMs, user),
      );
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel();
  }

  #onRead(set: TlsSet, intervalMs: number, user: TlsFilesUser): void {
    if (this.#stopped) {
      return;
    }
    this.poll(intervalMs, user);
    const last = this.#set;
    if (set.cert !== last.cert || set.key !== last.key || set.ca !== last.ca) {
      this.#set = set;
      user.onChanged(set);
    }
    this.#report(null, user);
  }

  #onFailed(error: unknown, intervalMs: number, user: TlsFilesUser): void {
    if (this.#stopped) {
      return;
    }
    this.poll(intervalMs, user);
    this.#report(error instanceof Error ? error.message : String(error), user);
  }

  #report(problem: string | null, user: TlsFilesUser): void {
    if (problem !== this.#problem) {
      this.#problem = problem;
      user.onProblem(problem);
    }
  }
}

async function readSet(paths: TlsFilePaths, nowMs: number): Promise<TlsSet> {
  const [cert, key, ca] = await Promise.all([
    readFile(paths.certificate, "utf8"),
    readFile(paths.key, "utf8"),
    readFile(paths.authorities, "utf8"),
  ]);
  const chain = certificatesOf(cert, paths.certificate);
  const authorities = certificatesOf(ca, paths.authorities);
  const certificate = checkedCertificate(chain, key, paths, nowMs);
  if (!leadsTo(authorities, chain)) {
    throw new TlsFilesError(
      `the certificate in ${paths.certificate} does not lead to an authority in ${paths.authorities}`,
    );
  }
  const context = createSecureContext({ cert, key, ca, minVersion: TLS_VERSION });
  return { cert, key, ca, certificate, authorities, context };
}

async function readServerSet(paths: ServerTlsFilePaths, nowMs: number): Promise<TlsSet> {
  const { clientAuthorities } = paths;
  const [cert, key, ca] = await Promise.all([
    readFile(paths.certificate, "utf8"),
    readFile(paths.key, "utf8"),
    clientAuthorities === null ? undefined : readFile(clientAuthorities, "utf8"),
  ]);
  const certificate = checkedCertificate(certificatesOf(cert, paths.certificate), key, paths, nowMs);
  const authorities = clientAuthorities === null || ca === undefined ? [] : certificatesOf(ca, clientAuthorities);
  return {
    cert,
    key,
    ca,
    certificate,
    authorities,
    context: createSecureContext({ cert, key, ca, minVersion: CLIENT_TLS_VERSION }),
  };
}

/** The first certificate, if the key belongs to it and its dates are right. */
function checkedCertificate(
  chain: readonly X509Certificate[],
  key: string,
  paths: { readonly certificate: string; readonly key: string },
  nowMs: number,
): X509Certificate {
  const certificate = chain[0] as X509Certificate;
  if (!certificate.checkPrivateKey(privateKeyOf(key, paths.key))) {
    throw new TlsFilesError(`the key in ${paths.key} does not belong to the certificate in ${paths.certificate}`);
  }
  if (certificate.validFromDate.getTime() > nowMs || certificate.validToDate.getTime() <= nowMs) {
    throw new TlsFilesError(
      `the certificate in ${paths.certificate} is valid from ${certificate.validFrom} to ${certificate.validTo}`,
    );
  }
  return certificate;
}

function certificatesOf(pem: string, path: string): X509Certificate[] {
  const blocks = pem.match(PEM_CERTIFICATE) ?? [];
  if (blocks.length === 0) {
    throw new TlsFilesError(`there is no certificate in ${path}`);
  }
  // The library reads authorities up to a truncated one and silently ignores the rest.
  if (blocks.length !== pem.match(PEM_BEGIN)?.length) {
    throw new TlsFilesError(`a certificate in ${path} is cut off`);
  }
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch (error) {
    throw new TlsFilesError(`a certificate in ${path} cannot be read`, { cause: error });
  }
}

function privateKeyOf(pem: string, path: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    // The library's message could quote the file, and its cause would travel with the error.
    throw new TlsFilesError(`the key in ${path} cannot be read`);
  }
}

/** Whether each certificate of the chain is signed by the next, up to one that an authority has signed or is. */
function leadsTo(authorities: readonly X509Certificate[], chain: readonly X509Certificate[]): boolean {
  for (const [position, certificate] of chain.entries()) {
    if (authorities.some((authority) => isSignedBy(certificate, authority))) {
      return true;
    }
    const next = chain[position + 1];
    if (next === undefined || !isSignedBy(certificate, next)) {
      return false;
    }
  }
  return false;
}

function isSignedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}
