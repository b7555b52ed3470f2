/**
 * What the servers of a member show their clients by TLS. It follows its files: connections that are open stay as they
 * are, new ones get what is there now.
 */

import { systemPeerClock } from "./peer-clock.ts";
import type { PeerLog } from "./peer-handler.ts";
import { type ServerTlsFilePaths, TlsFiles, type TlsSet } from "./tls-files.ts";

/** Files are looked at this often, in milliseconds. */
const POLL_MS = 5_000;

export class ServerTls {
  readonly #files: TlsFiles;
  readonly #listeners: ((set: TlsSet) => void)[] = [];

  private constructor(files: TlsFiles) {
    this.#files = files;
  }

  /**
   * Reads the files, and again from time to time until `stop`; what is wrong with them then is logged, and the last
   * whole set stays. Rejects with a TlsFilesError, or the error of a file, unless they are a whole set.
   */
  static async open(paths: ServerTlsFilePaths, log: PeerLog, pollMs = POLL_MS): Promise<ServerTls> {
    const tls = new ServerTls(await TlsFiles.openServer(paths, systemPeerClock));
    tls.#files.poll(pollMs, {
      onChanged: (set) => {
        log.info({ serial: set.certificate.serialNumber }, "clients are shown another certificate");
        for (const listener of tls.#listeners) {
          listener(set);
        }
      },
      onProblem: (problem) => {
        if (problem !== null) {
          log.warn({ problem }, "the certificate files for clients cannot be used: the last ones stay");
        }
      },
    });
    return tls;
  }

  /** The last whole set. */
  get set(): TlsSet {
    return this.#files.set;
  }

  /** Whether clients must show a certificate. That is settled when the member starts. */
  get needsClientCertificate(): boolean {
    return this.set.ca !== undefined;
  }

  /** Calls the listener with each other set that is found from now on. */
  onChanged(listener: (set: TlsSet) => void): void {
    this.#listeners.push(listener);
  }

  stop(): void {
    this.#files.stop();
  }
}
