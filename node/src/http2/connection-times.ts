/**
 * The times at which a connection has to do something though no byte has come (its handshake, its idle time, the signs of
 * life of its client, its slow reader, its end). It reads no clock: each time is an input, in milliseconds that only grow.
 */
import type { Http2Limits } from "./limits.ts";

/** What is due: a reason to close, or something to send. */
export type Due =
  | "handshake-timeout"
  | "write-timeout"
  | "drain-deadline"
  | "keepalive-timeout"
  | "final-goaway"
  | "idle"
  | "keepalive-ping";

/** What the connection knows besides times. */
export interface ConnectionSigns {
  readonly hasSettings: boolean;
  readonly streams: number;
  /** Whether the socket has taken bytes that it has not written. */
  readonly isWriting: boolean;
  /** Whether the connection takes bytes of the client at present. */
  readonly isReading: boolean;
}

/** The client answers a PING in this time, else it must take the last GOAWAY without warning. */
const DRAIN_NOTICE_MS = 1_000;
const NEVER_MS = Number.POSITIVE_INFINITY;

export class ConnectionTimes {
  readonly #limits: Http2Limits;
  readonly #openedMs: number;
  #nowMs: number;
  #receivedMs: number;
  #idleSinceMs: number;
  #pingedMs = NEVER_MS;
  #writingSinceMs = NEVER_MS;
  #noticeMs = NEVER_MS;
  #isDraining = false;
  #deadlineMs = NEVER_MS;

  constructor(limits: Http2Limits, nowMs: number) {
    this.#limits = limits;
    this.#openedMs = nowMs;
    this.#nowMs = nowMs;
    this.#receivedMs = nowMs;
    this.#idleSinceMs = nowMs;
  }

  /** The last time that was an input. */
  get nowMs(): number {
    return this.#nowMs;
  }

  onReceived(nowMs: number): void {
    this.#nowMs = nowMs;
    this.#receivedMs = nowMs;
    this.#pingedMs = NEVER_MS;
  }

  /** The last stream has ended. */
  onIdle(): void {
    this.#idleSinceMs = this.#nowMs;
  }

  onPinged(): void {
    this.#pingedMs = this.#nowMs;
  }

  /** The socket takes bytes, having written all that it took before. */
  onTaken(): void {
    this.#writingSinceMs = this.#nowMs;
  }

  /** The client learns that the connection ends, at the latest when the deadline is reached. */
  onDraining(deadlineMs: number): void {
    if (!this.#isDraining) {
      this.#isDraining = true;
      this.#noticeMs = this.#nowMs;
    }
    this.#deadlineMs = Math.min(this.#deadlineMs, deadlineMs);
  }

  /** The last GOAWAY was sent. */
  onFinalGoAway(): void {
    this.#noticeMs = NEVER_MS;
  }

  /** What is due now, the most urgent first; null if nothing is. */
  due(nowMs: number, signs: ConnectionSigns): Due | null {
    this.#nowMs = nowMs;
    const { handshakeMs, writeMs, idleMs } = this.#limits;
    if (!signs.hasSettings && nowMs - this.#openedMs >= handshakeMs) {
      return "handshake-timeout";
    }
    if (signs.isWriting && nowMs - this.#writingSinceMs >= writeMs) {
      return "write-timeout";
    }
    if (nowMs >= this.#deadlineMs) {
      return "drain-deadline";
    }
    if (nowMs - this.#noticeMs >= DRAIN_NOTICE_MS) {
      return "final-goaway";
    }
    if (signs.hasSettings && signs.streams === 0 && !this.#isDraining && nowMs - this.#idleSinceMs >= idleMs) {
      return "idle";
    }
    return signs.hasSettings && signs.isReading ? this.#lifeSignDue(nowMs) : null;
  }

  #lifeSignDue(nowMs: number): Due | null {
    const { keepaliveMs, keepaliveTimeoutMs } = this.#limits;
    if (this.#pingedMs !== NEVER_MS) {
      return nowMs - this.#pingedMs >= keepaliveTimeoutMs ? "keepalive-timeout" : null;
    }
    return nowMs - this.#receivedMs >= keepaliveMs ? "keepalive-ping" : null;
  }
}
