/** The stored objects that answers and changes contain, as types: keys, event logs, users and API keys. */

/** A key as it is stored. */
export interface StoredKey {
  /** UTF-8 bytes. */
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly createRevision: number;
  readonly modRevision: number;
  /** 1 at creation, then one more with each put. */
  readonly version: number;
  /** Cluster tick in milliseconds after which it may expire; 0 = never. */
  readonly deadlineMs: number;
  /** The session that it ends with; absent = none. */
  readonly sessionId?: number;
}

export interface LogSettings {
  /** Seconds for which the key of an event is remembered; 0 = not at all, null = the default of the cluster. */
  readonly duplicateWindowSecs: number | null;
  /**
   * Limits: events older than this many seconds, and the oldest beyond this many bytes, are removed; null = no limit.
   */
  readonly retentionMaxAgeSecs: number | null;
  readonly retentionMaxBytes: number | null;
}

/** An event log as it is stored, without its events. */
export interface EventLog {
  /** 16 bytes of a UUID. */
  readonly logId: Uint8Array;
  /** Index of the entry that created it. The keys of its rows contain this number, which no other log ever has. */
  readonly number: number;
  readonly name: string;
  readonly namespace: string;
  readonly settings: LogSettings;
  /** Unix time in milliseconds, and the id of the user. */
  readonly createdAtMs: number;
  readonly createdBy: string;
  /** Sequence of the last event ever appended; 0 = none. */
  readonly lastSequence: number;
  /** Sequence of the oldest kept event; the next sequence if the log is empty. */
  readonly firstSequence: number;
  /** Bytes of the kept payloads. */
  readonly sizeBytes: number;
  /** Cluster tick in milliseconds at which the oldest kept event was appended; 0 if there is none. */
  readonly oldestTickMs: number;
  /** Cluster tick in milliseconds after which events must be removed; 0 = never. */
  readonly retentionDueMs: number;
}

export type Role = "viewer" | "member" | "admin" | "owner";

export type UserStatus = "unverified" | "active" | "disabled";

export interface User {
  readonly userId: string;
  /** As given at creation; look-ups ignore the case of ASCII letters. */
  readonly email: string;
  readonly role: Role;
  /** Namespaces that the user may access; "*" = all, also ones that do not exist yet. */
  readonly namespaces: readonly string[];
  readonly status: UserStatus;
  /** With algorithm and parameters; "" = no password. */
  readonly passwordHash: string;
  /** How often the password has changed; a change revokes the tokens of earlier logins. */
  readonly passwordVersion: number;
  readonly createdAtMs: number;
}

export interface ApiKey {
  readonly apiKeyId: string;
  readonly userId: string;
  readonly name: string;
  /** The public part, which identifies the key: `qk_` and eight characters. */
  readonly prefix: string;
  /** SHA-256 of the whole plaintext key. */
  readonly sha256: Uint8Array;
  readonly createdAtMs: number;
  /** Wall clock in milliseconds; 0 = never. */
  readonly expiresAtMs: number;
  /** Wall clock in milliseconds; 0 = not revoked. */
  readonly revokedAtMs: number;
  /** Wall clock in milliseconds, at most about a minute before the last use; 0 = never used. */
  readonly lastUsedAtMs: number;
}
