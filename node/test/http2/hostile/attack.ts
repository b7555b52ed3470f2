/** What an attack is: what it does, and what a member is to make of it. */
import type { CloseReason, StreamRefusal } from "../../../src/http2/index.ts";

/** How much of it there is. */
export interface AttackScale {
  /** Connections that are open and do nothing. */
  readonly idleConnections: number;
  /** Connections of the other attacks. */
  readonly connections: number;
  /** Streams that stay open on each of them. */
  readonly streams: number;
  /** Streams that are reset, of all connections together. */
  readonly resets: number;
  /** Milliseconds for which connections and streams are held, and for which floods go on. */
  readonly holdMs: number;
}

export interface AttackPlace {
  readonly port: number;
  /** A token of a user, who may do what owners may. */
  readonly token: string;
  readonly scale: AttackScale;
}

export interface Attack {
  readonly name: string;
  /** Why the member closes its connections, one of these; [] if it is to let them be. */
  readonly closeReasons: readonly CloseReason[];
  /** Why the member resets its streams; null if it need not. */
  readonly refusal: StreamRefusal | null;
  /** What the memory of the member may grow by meanwhile, in MiB. */
  readonly memoryMebibytesMax: (scale: AttackScale) => number;
  /** Resolves to what it did, in words. */
  readonly run: (place: AttackPlace) => Promise<string>;
}

/** The full size: what the README's table was measured with. */
export const FULL_SCALE: AttackScale = {
  idleConnections: 9_900,
  connections: 16,
  streams: 1_000,
  resets: 100_000,
  holdMs: 150_000,
};
/** What takes a few seconds. */
export const SHORT_SCALE: AttackScale = {
  idleConnections: 400,
  connections: 16,
  streams: 200,
  resets: 30_000,
  holdMs: 1_500,
};
