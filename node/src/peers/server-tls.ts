/**
 * The certificate that a member's servers present to clients. It follows its files: open connections keep theirs, new
 * ones get the current one.
 */

import { systemPeerClock } from "./peer-clock.ts";
import type { PeerLog } from "./peer-handler.ts";
import { type ServerTlsFilePaths, TlsFiles, type TlsSet } from "./tls-files.ts";

/** Interval in milliseconds at which the files are read. */
const POLL_MS = 5_000;

export class ServerTls {
  readonly #files: TlsFiles;
  readonly #listeners: ((set: TlsSet) => void)[] = [];

  private constructor(files: TlsFiles) {
    this.#files = files;
  }

  /**
   * Reads the files, and again at intervals until `stop`. It logs later problems and keeps the last valid set. Rejects
   * with a TlsFilesError, or with the error of a file, unless the files are a valid set.
   */
  static async open(paths: ServerTlsFilePaths, log: PeerLog, pollMs = POLL_MS): Promise<ServerTls> {
    const tls = new ServerTls(await TlsFiles.openServer(paths, systemPeerClock));
    tls.#files.poll(pollMs, {
      onChanged: (set) => {
        log.info({ serial: set.certificate.serialNumber }, "clients get another certificate from now on");
        for (const listener of tls.#listeners) {
          listener(set);
        }
      },
      onProblem: (problem) => {
        if (problem !== null) {
          log.warn({ problem }, "the certificate files for clients are not valid: the last valid ones stay in use");
        }
      },
    });
    return tls;
  }

  /** The last valid set. */
  get set(): TlsSet {
    return this.#files.set;
  }

  /** Whether clients must present a certificate. Fixed when the member starts. */
  get needsClientCertificate(): boolean {
    return this.set.ca !== undefined;
  }

  /** Calls the listener with each new set from now on. */
  onChanged(listener: (set: TlsSet) => void): void {
    this.#listeners.push(listener);
  }

  stop(): void {
    this.#files.stop();
  }
}
