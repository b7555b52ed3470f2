/** Commands that end sessions. */

declare module "../core/results.ts" {
  interface StoredResults {
    readonly "end-session": EndSessionResult;
  }
}

export interface EndSessionResult {
  readonly kind: "end-session";
  /** Keys and holds that ended with it. */
  readonly endedObjects: number;
  readonly revision: number;
}

export interface EndSession {
  readonly kind: "end-session";
  readonly namespace: string;
  readonly sessionId: number;
  /** Whether to end the session of another user. */
  readonly force: boolean;
}

/** Names sessions whose time may be over; apply decides (S22). */
export interface ExpireSessions {
  readonly kind: "expire-sessions";
  readonly sessions: readonly { readonly namespace: string; readonly sessionId: number }[];
}
