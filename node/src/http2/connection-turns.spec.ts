/** The turns of connections, on sockets and in a time that the test makes. */
import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { expect } from "chai";
import { CLIENT_PREFACE, data, Flag, GRPC_REQUEST, RequestEncoder, settings } from "../../test/http2/index.ts";
import { Turns } from "../collections/index.ts";
import { Http2Server } from "./http2-server.ts";
import { DEFAULT_HTTP2_LIMITS } from "./limits.ts";

const REQUEST_MS = 0.05;
const [CONNECTIONS, REQUESTS] = [50, 200];
/** A slice of 4 ms, and what the connection that is read last may take more: 2 KiB, which are some 100 requests. */
const TURN_MS_MAX = 4 + 100 * REQUEST_MS;

/** A socket that gives and takes what the test wants. */
class TestSocket extends EventEmitter {
  readonly #encoder = new RequestEncoder();
  readonly #held: Buffer[] = [];
  #isPaused = false;
  #isFirst = true;
  #next = 1;

  setNoDelay(): void {}
  destroy(): void {}
  end(): void {}

  write(_bytes: Uint8Array, written: () => void): void {
    setImmediate(written);
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    for (let bytes = this.#held.shift(); bytes !== undefined; bytes = this.#held.shift()) {
      this.emit("data", bytes);
      if (this.#isPaused) {
        return;
      }
    }
  }

  /** The client sends so many requests at once. */
  send(count: number): void {
    const frames: Uint8Array[] = this.#isFirst ? [CLIENT_PREFACE, settings()] : [];
    this.#isFirst = false;
    for (let at = 0; at < count; at++) {
      const id = this.#next;
      this.#next += 2;
      frames.push(this.#encoder.headers(id, GRPC_REQUEST), data(id, "", Flag.EndStream));
    }
    const bytes = Buffer.concat(frames);
    if (this.#isPaused) {
      this.#held.push(bytes);
    } else {
      this.emit("data", bytes);
    }
  }
}

describe("the turns of connections (S44)", () => {
  let nowMs: number;
  let later: (() => void)[];
  let served: string[];
  let server: Http2Server;

  beforeEach(() => {
    nowMs = 0;
    later = [];
    served = [];
    const turns = new Turns({ nowMs: () => nowMs, later: (callback) => void later.push(callback) });
    const ignore = (): void => undefined;
    server = new Http2Server({
      limits: DEFAULT_HTTP2_LIMITS,
      tls: null,
      turns,
      onConnection: (_connection, socket) => {
        const { owner } = socket as Socket & { readonly owner: string };
        return {
          owner,
          onRequest: () => {
            nowMs += REQUEST_MS;
            served.push(owner);
            return { onData: ignore, onEnd: ignore, onReset: ignore, onWritable: ignore };
          },
          onClosed: ignore,
        };
      },
    });
  });

  function connect(owner: string): TestSocket {
    const socket = Object.assign(new TestSocket(), { owner });
    server.accept(socket as unknown as Socket);
    return socket;
  }

  /** A turn of the event loop. Returns how long it took. */
  function turn(arrivals: () => void = () => undefined): number {
    const startMs = nowMs;
    arrivals();
    for (const callback of later.splice(0)) {
      callback();
    }
    return nowMs - startMs;
  }

  /** Connections of one owner, with requests on each of them at once. */
  function flood(): () => void {
    const sockets = Array.from({ length: CONNECTIONS }, () => connect("many"));
    return () => {
      for (const socket of sockets) {
        socket.send(REQUESTS);
      }
    };
  }

  it("take a slice of each turn of the event loop, however many connections have something", () => {
    const tookMs = [turn(flood())];
    while (later.length > 0) {
      tookMs.push(turn());
    }
    expect(served.length).to.equal(CONNECTIONS * REQUESTS);
    // What arrives is read in a slice of its own.
    expect(Math.max(...tookMs)).to.be.at.most(2 * TURN_MS_MAX);
  });

  it("let an owner of one connection wait for one piece of an owner of fifty", () => {
    const quiet = connect("quiet");
    turn(flood());
    served = [];
    turn(() => quiet.send(1));
    turn();
    expect(served).to.include("quiet");
    expect(served.indexOf("quiet") * REQUEST_MS).to.be.at.most(TURN_MS_MAX);
  });

  it("read at once from a connection while there is time", () => {
    const socket = connect("one");
    socket.send(2);
    expect(served.length).to.equal(2);
  });
});
