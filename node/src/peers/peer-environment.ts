/** What all parts of the transport share: time, randomness, names, secrets and limits, all passed in. */

import type { LookupFunction } from "node:net";
import type { PeerLimits } from "./limits.ts";
import type { PeerClock } from "./peer-clock.ts";
import type { PeerHandler, PeerLog } from "./peer-handler.ts";
import type { TlsFiles } from "./tls-files.ts";

export interface PeerEnvironment {
  readonly clock: PeerClock;
  /** Uniform in [0, 1); never for secrets. */
  readonly random: () => number;
  readonly log: PeerLog;
  /** Resolves names at each dial (P49). */
  readonly lookup: LookupFunction;
  /** An IP address at which others reach this member while its name is not known everywhere; null = none. */
  readonly dialHint: string | null;
  /** Accepted join tokens, read at each use; the member presents the first. */
  readonly joinTokens: () => readonly string[];
  /** Null for plain TCP. */
  readonly tls: PeerTls | null;
  readonly limits: PeerLimits;
  readonly handler: PeerHandler;
}

export interface PeerTls {
  readonly files: TlsFiles;
  /** A name that certificates must have for members that are not in the directory yet; may begin with "*.". */
  readonly joinNamePattern: string;
}
