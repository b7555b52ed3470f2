/** The definition of an attack: its actions, and the required reaction of the member. */
import type { CloseReason, StreamRefusal } from "../../../src/http2/index.ts";

/** The size of an attack. */
export interface AttackScale {
  /** Open connections without traffic. */
  readonly idleConnections: number;
  /** Connections of the other attacks. */
  readonly connections: number;
  /** Streams that stay open on each of them. */
  readonly streams: number;
  /** Streams to reset, over all connections together. */
  readonly resets: number;
  /** For how long, in milliseconds, connections and streams are held, and floods go on. */
  readonly holdMs: number;
}

export interface AttackTarget {
  readonly port: number;
  /** A token of a user with the owner's permissions. */
  readonly token: string;
  readonly scale: AttackScale;
}

export interface Attack {
  readonly name: string;
  /** The member must close the connections for one of these reasons; [] if it must not close them. */
  readonly closeReasons: readonly CloseReason[];
  /** The reason with which the member must reset streams; null if it need not. */
  readonly refusal: StreamRefusal | null;
  /** Limit for the growth of the member's memory meanwhile, in MiB. */
  readonly memoryMebibytesMax: (scale: AttackScale) => number;
  /** Resolves to a description of what it did. */
  readonly run: (target: AttackTarget) => Promise<string>;
}

/** The full size, with which the README's table was measured. */
export const FULL_SCALE: AttackScale = {
  idleConnections: 9_900,
  connections: 16,
  streams: 1_000,
  resets: 100_000,
  holdMs: 150_000,
};
/** A size that takes a few seconds. */
export const SHORT_SCALE: AttackScale = {
  idleConnections: 400,
  connections: 16,
  streams: 200,
  resets: 30_000,
  holdMs: 500,
};
