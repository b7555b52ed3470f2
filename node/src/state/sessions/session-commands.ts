/** Commands about sessions, and their results. */

import type { Principal } from "../core/index.ts";

declare module "../core/results.ts" {
  interface StoredResults {
    readonly "create-session": CreateSessionResult;
  }
  interface UnstoredResults {
    readonly "renew-sessions": RenewSessionsResult;
  }
}

export interface CreateSessionResult {
  readonly kind: "create-session";
  readonly sessionId: number;
  /** Cluster tick in milliseconds after which it may end. */
  readonly deadlineMs: number;
  readonly revision: number;
}

/** A session that a member renewed. */
export interface RenewedSession {
  readonly sessionId: number;
  /** Cluster tick in milliseconds after which it may end; 0 = there is no such session of the caller. */
  readonly deadlineMs: number;
}

/** For each renewal its sessions; null if the caller has no right to renew any. */
export interface RenewSessionsResult {
  readonly kind: "renew-sessions";
  readonly renewed: readonly (readonly RenewedSession[] | null)[];
  /** The cluster tick of the entry, in milliseconds: remaining times count from it. */
  readonly tickMs: number;
  readonly revision: number;
}

export interface CreateSession {
  readonly kind: "create-session";
  readonly namespace: string;
  /** Seconds after its last renewal for which it lives. */
  readonly ttlSeconds: number;
  /** Label of who uses it; "" = the subject. */
  readonly owner: string;
  /** For other clients to read. */
  readonly metadata: Uint8Array;
}

/** What one call renews. */
export interface Renewal {
  readonly principal: Principal;
  readonly namespace: string;
  readonly sessionIds: readonly number[];
}

/** Renews the sessions of several calls, which a member has collected. */
export interface RenewSessions {
  readonly kind: "renew-sessions";
  readonly renewals: readonly Renewal[];
}
