/**
 * Reads the connections of HTTP in turns. Node parses all that has arrived on a connection at once, up to 64 KiB, which
 * may be 2,400 requests, and then the next connection, and so on. So a client without a token could stop a member for
 * seconds. Here a connection is read in pieces: its owner has a turn for each, as with all that clients ask for.
 */

import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { Turns } from "../../../collections/index.ts";
import { invariant } from "../../../primitives/index.ts";

/** Bytes of a piece: about a millisecond of the smallest requests. */
const PIECE_BYTES = 2 * 1024;
/** Pieces grow up to this while they take less than `SHORT_MS`, as those of a body do. */
const PIECE_BYTES_MAX = 16 * 1024;
const SHORT_MS = 0.2;

/**
 * Reads each connection of the server in turns.
 *
 * @param event emitted by the server for each connection; its listeners of Node must be there already.
 * @param ownerOf who takes turns: the same name for all connections of a user or an address.
 */
export function readInTurns(
  server: Server,
  event: "connection" | "secureConnection",
  turns: Turns,
  ownerOf: (socket: Socket) => string,
): void {
  server.on(event, (socket: Socket) => {
    const [read, ...others] = socket.listeners("data");
    invariant(read !== undefined && others.length === 0, "the server reads its connections by one listener");
    socket.removeListener("data", read as (chunk: Buffer) => void);
    new ConnectionReader(socket, read as (piece: Buffer) => void, turns, ownerOf).begin();
  });
}

class ConnectionReader {
  readonly #socket: Socket;
  readonly #read: (piece: Buffer) => void;
  readonly #turns: Turns;
  readonly #ownerOf: (socket: Socket) => string;
  /** Those of the socket itself. */
  readonly #pause: () => Socket;
  readonly #resume: () => Socket;
  /** What has arrived and is not read yet: the first chunk from `#from` on. */
  readonly #chunks: Buffer[] = [];
  #from = 0;
  /** Whether Node wants to read. It does not while the client takes no answers, or while the body is not taken. */
  #isWanted = true;
  /** Whether nothing more may arrive until the chunks are read. */
  #isHeld = false;
  #isWaiting = false;
  readonly #onTurn = (): void => {
    this.#isWaiting = false;
    this.#readOn();
  };

  /** @param read the listener of Node for what has arrived. */
  constructor(socket: Socket, read: (piece: Buffer) => void, turns: Turns, ownerOf: (socket: Socket) => string) {
    this.#socket = socket;
    this.#read = read.bind(socket);
    this.#turns = turns;
    this.#ownerOf = ownerOf;
    this.#pause = socket.pause.bind(socket);
    this.#resume = socket.resume.bind(socket);
  }

  /** Reads from now on. What Node says to the socket is kept, and holds while nothing is held here. */
  begin(): void {
    const socket = this.#socket;
    socket.pause = () => {
      this.#isWanted = false;
      return this.#pause();
    };
    socket.resume = () => {
      this.#isWanted = true;
      if (this.#isHeld) {
        this.#wait();
        return socket;
      }
      return this.#resume();
    };
    socket.on("data", (chunk: Buffer) => {
      this.#chunks.push(chunk);
      if (this.#chunks.length === 1 && !this.#isWaiting && this.#turns.isFree) {
        this.#readOn();
      } else {
        this.#hold();
        this.#wait();
      }
    });
  }

  #hold(): void {
    this.#isHeld = true;
    this.#pause();
  }

  #release(): void {
    if (this.#isHeld) {
      this.#isHeld = false;
      if (this.#isWanted) {
        this.#resume();
      }
    }
  }

  #wait(): void {
    if (!this.#isWaiting) {
      this.#isWaiting = true;
      this.#turns.wait(this.#ownerOf(this.#socket), this.#onTurn);
    }
  }

  /** Reads pieces for as long as a turn may take, and while Node wants them. */
  #readOn(): void {
    const turns = this.#turns;
    let { nowMs } = turns;
    const endMs = turns.endMs(nowMs);
    let pieceBytes = PIECE_BYTES;
    while (this.#chunks.length > 0) {
      if (this.#socket.destroyed) {
        this.#chunks.length = 0;
        return;
      }
      if (!this.#isWanted || nowMs >= endMs) {
        this.#hold();
        if (this.#isWanted) {
          this.#wait();
        }
        return;
      }
      this.#read(this.#nextPiece(pieceBytes));
      const readMs = turns.nowMs;
      pieceBytes = readMs - nowMs < SHORT_MS ? Math.min(2 * pieceBytes, PIECE_BYTES_MAX) : PIECE_BYTES;
      nowMs = readMs;
    }
    this.#release();
  }

  #nextPiece(bytesMax: number): Buffer {
    const chunk = this.#chunks[0] as Buffer;
    const [from, to] = [this.#from, Math.min(this.#from + bytesMax, chunk.length)];
    if (to === chunk.length) {
      this.#chunks.shift();
      this.#from = 0;
    } else {
      this.#from = to;
    }
    return to - from === chunk.length ? chunk : chunk.subarray(from, to);
  }
}
