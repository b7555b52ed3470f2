/**
 * The timers of a connection: handshake, incomplete headers, idle time, keepalive, slow reader and drain. It reads no clock: each time is
 * an input, in milliseconds of a monotonic clock.
 */
import type { Http2Limits } from "./limits.ts";

/** A due action: a reason to close, or something to send. */
export type Due =
  | "handshake-timeout"
  | "headers-timeout"
  | "write-timeout"
  | "drain-deadline"
  | "keepalive-timeout"
  | "final-goaway"
  | "idle"
  | "keepalive-ping";

/** The state of the connection that the timers depend on. */
export interface ConnectionActivity {
  readonly hasSettings: boolean;
  /** Whether the client has shown who it is. */
  readonly isKnown: boolean;
  /** The stream whose header block is incomplete; 0 = none. */
  readonly headersStreamId: number;
  readonly streams: number;
  /** Whether the socket has taken bytes that it has not written yet. */
  readonly isWriting: boolean;
  /** Whether the connection reads from the client now. */
  readonly isReading: boolean;
}

/** How long the last GOAWAY waits for the client's answer to a PING. */
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
  /** The incomplete header block at the latest look, and when it was seen first. */
  #headersStreamId = 0;
  #headersSinceMs = 0;
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

  /** The latest time that was given. */
  get nowMs(): number {
    return this.#nowMs;
  }

  onReceived(nowMs: number): void {
    this.#nowMs = nowMs;
    this.#receivedMs = nowMs;
    this.#pingedMs = NEVER_MS;
  }

  /** Call it when the last stream has ended. */
  onIdle(): void {
    this.#idleSinceMs = this.#nowMs;
  }

  onPinged(): void {
    this.#pingedMs = this.#nowMs;
  }

  /** Call it when the socket takes bytes, after it has written all earlier ones. */
  onTaken(): void {
    this.#writingSinceMs = this.#nowMs;
  }

  /** Call it when the client gets the first GOAWAY. The connection ends at the deadline at the latest. */
  onDraining(deadlineMs: number): void {
    if (!this.#isDraining) {
      this.#isDraining = true;
      this.#noticeMs = this.#nowMs;
    }
    this.#deadlineMs = Math.min(this.#deadlineMs, deadlineMs);
  }

  /** Call it when the last GOAWAY was sent. */
  onFinalGoAway(): void {
    this.#noticeMs = NEVER_MS;
  }

  /** Returns the most urgent due action; null if there is none. */
  due(nowMs: number, signs: ConnectionActivity): Due | null {
    this.#nowMs = nowMs;
    const { handshakeMs, writeMs, idleMs, unknownIdleMs } = this.#limits;
    if (!signs.hasSettings && nowMs - this.#openedMs >= handshakeMs) {
      return "handshake-timeout";
    }
    if (this.#isHeadersTimeout(nowMs, signs)) {
      return "headers-timeout";
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
    const isIdle = signs.hasSettings && signs.streams === 0 && !this.#isDraining;
    if (isIdle && nowMs - this.#idleSinceMs >= (signs.isKnown ? idleMs : Math.min(idleMs, unknownIdleMs))) {
      return "idle";
    }
    return signs.hasSettings && signs.isReading ? this.#keepaliveDue(nowMs) : null;
  }

  /**
   * Whether the same header block has been incomplete for too long. Its bytes count for no call yet, and each byte puts
   * the keepalive off. A connection that does not read waits for itself, not for the client.
   */
  #isHeadersTimeout(nowMs: number, { headersStreamId, isReading }: ConnectionActivity): boolean {
    if (headersStreamId !== this.#headersStreamId || !isReading) {
      this.#headersStreamId = headersStreamId;
      this.#headersSinceMs = nowMs;
    }
    return headersStreamId !== 0 && nowMs - this.#headersSinceMs >= this.#limits.headersMs;
  }

  #keepaliveDue(nowMs: number): Due | null {
    const { keepaliveMs, keepaliveTimeoutMs } = this.#limits;
    if (this.#pingedMs !== NEVER_MS) {
      return nowMs - this.#pingedMs >= keepaliveTimeoutMs ? "keepalive-timeout" : null;
    }
    return nowMs - this.#receivedMs >= keepaliveMs ? "keepalive-ping" : null;
  }
}
