/**
 * The certificate, key and authorities of this member, read from files and read again while it runs: those with which it
 * meets other members, or those that it shows to clients.
 *
 * A set counts only if it is whole: the key is that of the certificate, and the dates are right. Towards members the
 * certificate must lead to one of the authorities over those in its own file, because theirs do; the authorities of
 * clients have nothing to do with the certificate that clients are shown. Whatever else is found is reported; the last
 * good set stays.
 */

import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createSecureContext, type SecureContext } from "node:tls";
import type { PeerClock } from "./peer-clock.ts";

/** Paths of files in PEM. */
export interface TlsFilePaths {
  /** The member's certificate, then those that lead from it to an authority. */
  readonly certificate: string;
  readonly key: string;
  /** One or several authorities: several while one replaces another. */
  readonly authorities: string;
}

/** Paths of files in PEM. */
export interface ServerTlsFilePaths {
  /** The certificate that clients are shown, then those that lead from it to an authority that they know. */
  readonly certificate: string;
  readonly key: string;
  /** The authorities of clients, who must show a certificate of one of them; null = they need none. */
  readonly clientAuthorities: string | null;
}

/** A whole set, as Node takes it. */
export interface TlsSet {
  readonly cert: string;
  readonly key: string;
  readonly ca: string | undefined;
  readonly certificate: X509Certificate;
  /** Of the authorities in `ca`; none where no certificates are asked for. */
  readonly authorities: readonly X509Certificate[];
  readonly context: SecureContext;
}

export interface TlsFilesUser {
  /** Another whole set was found. */
  onChanged(set: TlsSet): void;
  /** What is wrong with the files, each time that it becomes something else; null once they are right again. */
  onProblem(problem: string | null): void;
}

export const TLS_VERSION = "TLSv1.3";
/** Clients are not ours to choose. */
export const CLIENT_TLS_VERSION = "TLSv1.2";
const PEM_BEGIN = /-----BEGIN CERTIFICATE-----/g;
const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The files are not a whole set. */
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

  /** Reads the files. Rejects with a TlsFilesError unless they are a whole set. */
  static async open(paths: TlsFilePaths, clock: PeerClock): Promise<TlsFiles> {
    const read = () => readSet(paths, clock.wallMs());
    return new TlsFiles(read, clock, await read());
  }

  /** The same for what clients are shown. */
  static async openServer(paths: ServerTlsFilePaths, clock: PeerClock): Promise<TlsFiles> {
    const read = () => readServerSet(paths, clock.wallMs());
    return new TlsFiles(read, clock, await read());
  }

  /** The last whole set. */
  get set(): TlsSet {
    return this.#set;
  }

  /** Reads the files again and again, each time so many milliseconds after the last. */
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
    throw new TlsFilesError(`the certificate in ${paths.certificate} leads to no authority in ${paths.authorities}`);
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

/** The first certificate, if the key is its own and its dates are right. */
function checkedCertificate(
  chain: readonly X509Certificate[],
  key: string,
  paths: { readonly certificate: string; readonly key: string },
  nowMs: number,
): X509Certificate {
  const certificate = chain[0] as X509Certificate;
  if (!certificate.checkPrivateKey(privateKeyOf(key, paths.key))) {
    throw new TlsFilesError(`the key in ${paths.key} is not that of the certificate in ${paths.certificate}`);
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
  // The library takes authorities up to where a file breaks off, and those behind are not known any more.
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
    // What the library says could quote the file, and its cause would travel with the error.
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
