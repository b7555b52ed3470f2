/**
 * Certificates with which members meet each other, replaced while they run, as their authority may be: for some time
 * both authorities count, then the new one alone.
 */

import { copyFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "node:tls";
import type { PeerTlsPlace } from "../test/harness/index.ts";
import { TestAuthority } from "../test/peers/index.ts";

/** Names of members end with it, whatever their addresses are. */
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
  /** Both while one replaces the other. */
  #trusted: readonly Authority[];
  #founded = 0;

  /** @param directory is made. Raises an error where there is no openssl. */
  constructor(directory: string) {
    this.#directory = directory;
    mkdirSync(directory, { mode: 0o700 });
    this.#authority = this.#found();
    this.#trusted = [this.#authority];
  }

  /** The name of the authority that signs now. */
  get authority(): string {
    return this.#authority.name;
  }

  /** Gives a member its files, and others in their place when it gets another address. */
  issue(name: string, host: string = LOOPBACK): PeerTlsPlace {
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

  /** Issues nothing for this member any more. */
  forget(name: string): void {
    this.#hosts.delete(name);
  }

  /** Lets everybody trust a new authority besides the present one. */
  announce(): void {
    this.#trusted = [this.#authority, this.#found()];
    this.#trustAll();
  }

  /** Lets the new authority sign, and gives everybody a certificate of it. */
  replace(): void {
    this.#authority = this.#trusted.at(-1) as Authority;
    for (const [name, host] of this.#hosts) {
      this.#sign(name, host);
    }
  }

  /** Lets nobody trust the former authority any more. */
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

  /** A member that reads between the two renames finds no whole set, and reads again later. */
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

/** The name of the authority whose certificate is shown at a peer port; null if nobody answers there. */
export function authorityShownAt(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    // What is looked for is what it shows, not whether it is to be believed.
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
