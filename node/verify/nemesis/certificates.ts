/**
 * Peer certificates of the members, which can be replaced while the members run. When the authority changes, members
 * trust both authorities for some time, and then only the new one.
 */

import { copyFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "node:tls";
import type { PeerTlsFiles } from "../../test/harness/index.ts";
import { TestAuthority } from "../../test/peers/index.ts";

/** Domain of the members' names in certificates. */
const DOMAIN = "nemesis.test";
const LOOPBACK = "127.0.0.1";
const CONNECT_TIMEOUT_MS = 2_000;

interface Authority {
  /** The common name in its certificate. */
  readonly name: string;
  readonly signer: TestAuthority;
}

export class Certificates {
  readonly #directory: string;
  /** Addresses of members by name. */
  readonly #hosts = new Map<string, string>();
  #authority: Authority;
  /** Both authorities while one replaces the other. */
  #trusted: readonly Authority[];
  #founded = 0;

  /** @param directory is created. Raises an error if there is no openssl. */
  constructor(directory: string) {
    this.#directory = directory;
    mkdirSync(directory, { mode: 0o700 });
    this.#authority = this.#found();
    this.#trusted = [this.#authority];
  }

  /** Name of the current signing authority. */
  get authority(): string {
    return this.#authority.name;
  }

  /** Writes the files of a member. Replaces them when the member gets another address. */
  issue(name: string, host: string = LOOPBACK): PeerTlsFiles {
    this.#hosts.set(name, host);
    mkdirSync(this.#path(name), { recursive: true, mode: 0o700 });
    this.#trust(name);
    this.#sign(name, host);
    return {
      certificate: this.#path(name, "tls.crt"),
      key: this.#path(name, "tls.key"),
      authorities: this.#path(name, "ca.crt"),
      joinName: `*.${DOMAIN}`,
    };
  }

  /** Issues no more certificates for this member. */
  forget(name: string): void {
    this.#hosts.delete(name);
  }

  /** Makes all members trust a new authority besides the current one. */
  announce(): void {
    this.#trusted = [this.#authority, this.#found()];
    this.#trustAll();
  }

  /** Makes the new authority sign, and gives all members a certificate of it. */
  replace(): void {
    this.#authority = this.#trusted.at(-1) as Authority;
    for (const [name, host] of this.#hosts) {
      this.#sign(name, host);
    }
  }

  /** Makes all members trust only the new authority. */
  retire(): void {
    this.#trusted = [this.#authority];
    this.#trustAll();
  }

  #found(): Authority {
    const name = `authority-${++this.#founded}`;
    return { name, signer: new TestAuthority(this.#directory, name) };
  }

  #trustAll(): void {
    for (const name of this.#hosts.keys()) {
      this.#trust(name);
    }
  }

  #trust(name: string): void {
    const bundle = this.#trusted.map(({ signer }) => readFileSync(signer.certificate, "utf8")).join("");
    const file = this.#path(name, "ca.crt");
    writeFileSync(`${file}.new`, bundle, { mode: 0o600 });
    renameSync(`${file}.new`, file);
  }

  /** A member that reads between the two renames finds a key that does not match, and reads again later. */
  #sign(name: string, host: string): void {
    const issued = this.#authority.signer.issue(name, [`DNS:${name}.${DOMAIN}`, `IP:${host}`]);
    for (const [from, to] of [
      [issued.certificate, this.#path(name, "tls.crt")],
      [issued.key, this.#path(name, "tls.key")],
    ] as const) {
      copyFileSync(from, `${to}.new`);
      renameSync(`${to}.new`, to);
    }
  }

  #path(name: string, file = ""): string {
    return join(this.#directory, `member-${name}`, file);
  }
}

/** The issuing authority of the certificate presented at a peer port; null if there is no answer. */
export function authorityShownAt(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    // Only reads the certificate; whether to trust it does not matter here.
    const socket = connect({ host, port, rejectUnauthorized: false, timeout: CONNECT_TIMEOUT_MS });
    const end = (authority: string | null): void => {
      resolve(authority);
      socket.destroy();
    };
    socket
      .once("secureConnect", () => end(String(socket.getPeerCertificate().issuer?.CN ?? "")))
      .once("timeout", () => end(null))
      .once("error", () => end(null));
  });
}
