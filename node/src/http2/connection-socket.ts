/**
 * A connection on a socket, plain or TLS. It reads only while the client reads: if the socket does not take the
 * connection's output, nothing more is read from it.
 *
 * A client that sends as fast as it can must not delay other clients. The system delivers up to 32 buffers of one
 * socket in a turn of the event loop, which are 20,000 small requests, and those of hundreds of sockets. So owners of
 * connections take turns by the time that their requests take, and the rest of the bytes waits. A connection also waits
 * after each 64 KiB.
 *
 * After the end of the connection, its last bytes are written and the socket is ended. If the socket were destroyed
 * with unread bytes, the client could lose these last bytes. So arriving data are discarded for a while.
 */
import type { Socket } from "node:net";
import type { Turns } from "../collections/index.ts";
import type { CloseReason } from "./close-reason.ts";
import { ServerConnection, type ServerConnectionOptions } from "./server-connection.ts";
import type { TurnWriter, TurnWrites } from "./turn-writes.ts";

/** Milliseconds from the end of a connection to the end of its socket. */
export const LINGER_MS = 1_000;

/** Bytes to receive from one client before other clients get their turn. */
const TURN_BYTES = 64 * 1024;
/** Bytes after which the clock is read again. */
const PIECE_BYTES = 2 * 1024;
const NO_BYTES = new Uint8Array(0);

export interface ConnectionSocketOptions extends Omit<ServerConnectionOptions, "onOutput" | "nowMs"> {
  readonly writes: TurnWrites;
  readonly turns: Turns;
  /** Called when the socket is closed and the connection has ended. */
  readonly onClosed: () => void;
}

export class ConnectionSocket implements TurnWriter {
  readonly connection: ServerConnection;
  readonly #socket: Socket;
  readonly #writes: TurnWrites;
  readonly #turns: Turns;
  #isScheduled = false;
  /** Whether reading is paused because the client does not read. */
  #isPaused = false;
  /** Whether reading is paused until other clients had their turn. */
  #isYielding = false;
  #bytesOfTurn = 0;
  /** Received bytes that wait for the next turn, from `#restFrom` on. */
  #rest: Uint8Array = NO_BYTES;
  #restFrom = 0;
  #isEnded = false;
  #endedMs: number | null = null;
  readonly #onTurn = (): void => {
    this.#isYielding = false;
    this.#resume();
  };
  readonly #onWritten = (): void => {
    this.connection.written();
    if (this.#isPaused && this.connection.isReading) {
      this.#isPaused = false;
      this.#resume();
    }
    this.#schedule();
  };

  constructor(socket: Socket, { writes, turns, onClosed, ...options }: ConnectionSocketOptions) {
    this.#socket = socket;
    this.#writes = writes;
    this.#turns = turns;
    this.connection = new ServerConnection({
      ...options,
      nowMs: turns.nowMs,
      onOutput: () => this.#schedule(),
    });
    socket.setNoDelay(true);
    socket.on("data", (bytes: Buffer) => this.#receive(bytes));
    socket.on("end", () => this.#abandon("peer-closed"));
    socket.on("error", () => this.#abandon("socket-error"));
    socket.on("close", () => {
      this.#abandon("peer-closed");
      onClosed();
    });
  }

  tick(nowMs: number): void {
    this.connection.tick(nowMs);
    if (this.connection.closeResult !== null) {
      this.#endedMs ??= nowMs;
      if (nowMs - this.#endedMs >= LINGER_MS) {
        this.#socket.destroy();
      }
    }
  }

  flush(): void {
    this.#isScheduled = false;
    const bytes = this.connection.takeOutput();
    if (bytes !== null) {
      this.#socket.write(bytes, this.#onWritten);
    } else if (this.connection.closeResult !== null && !this.#isEnded && !this.connection.isWriting) {
      this.#isEnded = true;
      this.#socket.end();
    }
  }

  #receive(bytes: Buffer): void {
    this.#rest = bytes;
    this.#restFrom = 0;
    this.#bytesOfTurn += bytes.length;
    if (!this.#turns.isFree) {
      this.#waitForTurn();
      return;
    }
    this.#readRest();
    if (this.#bytesOfTurn >= TURN_BYTES) {
      this.#yield();
    }
  }

  /** Reads received bytes for as long as a turn may take, and while the client reads. */
  #readRest(): void {
    const { connection } = this;
    const bytes = this.#rest;
    let { nowMs } = this.#turns;
    const endMs = this.#turns.endMs(nowMs);
    while (this.#restFrom < bytes.length && connection.isReading && nowMs < endMs) {
      const from = this.#restFrom;
      const pauseAt = Math.min(from + PIECE_BYTES, bytes.length);
      this.#restFrom = connection.receive(bytes, from, bytes.length, nowMs, pauseAt);
      ({ nowMs } = this.#turns);
    }
    if (this.#restFrom === bytes.length || connection.closeResult !== null) {
      this.#rest = NO_BYTES;
      this.#restFrom = 0;
    }
    if (!connection.isReading && connection.closeResult === null) {
      this.#isPaused = true;
      this.#socket.pause();
    } else if (this.#rest.length > 0) {
      this.#waitForTurn();
    }
  }

  /** Reads the rest when it is the turn of the owner. */
  #waitForTurn(): void {
    if (this.#pause()) {
      const { connection } = this;
      this.#turns.wait(connection.owner ?? connection, this.#onTurn);
    }
  }

  /** Reads on in the next turn of the event loop. */
  #yield(): void {
    if (this.#pause()) {
      setImmediate(this.#onTurn);
    }
  }

  /** Returns whether the connection was not paused for others before. */
  #pause(): boolean {
    this.#bytesOfTurn = 0;
    if (this.#isYielding) {
      return false;
    }
    this.#isYielding = true;
    this.#socket.pause();
    return true;
  }

  #resume(): void {
    if (this.#isPaused || this.#isYielding) {
      return;
    }
    if (this.#rest.length === 0) {
      this.#socket.resume();
      return;
    }
    this.#readRest();
    if (!this.#isPaused) {
      // What has arrived meanwhile is read in another turn.
      this.#yield();
    }
  }

  #schedule(): void {
    if (!this.#isScheduled) {
      this.#isScheduled = true;
      this.#writes.add(this);
    }
  }

  /** Ends the connection because its socket has ended; nothing more is written. */
  #abandon(reason: CloseReason): void {
    this.connection.abandon(reason);
    this.#socket.destroy();
  }
}
