/**
 * A call of the gRPC library before its method is asked: its headers have come, its message may never come.
 *
 * It stands between the library and the method: it passes the headers on once they are admitted, and the end of the
 * request only behind a message. A call that was refused passes nothing on any more, so it is certainly not executed.
 */

import { constants, type ServerHttp2Stream } from "node:http2";
import type { Deadline, Metadata, ServerInterceptingCall } from "@grpc/grpc-js";
import { Links } from "../../collections/index.ts";
import { CoordinationError } from "../../state/index.ts";
import { toError } from "../methods/index.ts";
import type { OpenCall } from "./open-calls.ts";
import { errorStatus } from "./status.ts";

export interface IncomingCallUser {
  /** Raises the refusal of a call with these headers, at once or later. */
  admit(metadata: Metadata): undefined | Promise<undefined>;
  /** Something is wrong with the call; to be followed by `answer`. */
  refuse(error: Error): void;
  /** The request has come whole. */
  onComplete(): void;
}

type Listener = Parameters<ServerInterceptingCall["start"]>[0];

export class IncomingCall {
  readonly stream: ServerHttp2Stream;
  readonly open: OpenCall;
  /** Its place among the calls that are due. */
  readonly links = new Links<IncomingCall>();
  /** When the request must be complete, or once it is refused, closed. On the monotonic clock. */
  dueMs: number;
  readonly #call: ServerInterceptingCall;
  readonly #user: IncomingCallUser;
  /** Whether a request may have any number of messages. */
  readonly #isRepeated: boolean;
  #hasMessage = false;
  #isComplete = false;
  #isRefused = false;

  constructor(
    call: ServerInterceptingCall,
    stream: ServerHttp2Stream,
    { open, isRepeated, dueMs }: { readonly open: OpenCall; readonly isRepeated: boolean; readonly dueMs: number },
    user: IncomingCallUser,
  ) {
    this.#call = call;
    this.stream = stream;
    this.open = open;
    this.#isRepeated = isRepeated;
    this.dueMs = dueMs;
    this.#user = user;
    const start = call.start.bind(call);
    // The call itself: a wrapper around it would cost every message another round of callbacks.
    call.start = (listener) => start(this.#admitted(listener));
    const sendStatus = call.sendStatus.bind(call);
    call.sendStatus = (status) => {
      const isOnlyAnswer = !stream.headersSent;
      sendStatus(status);
      if (isOnlyAnswer && !this.#isComplete) {
        // Otherwise the stream would last until the client has sent the rest. The answer leaves at the end of this
        // turn, and a reset before that would take its place.
        setImmediate(() => stream.close(constants.NGHTTP2_NO_ERROR));
      }
    };
    // The library has paused the stream: this does not make it flow.
    stream.on("data", (bytes: Buffer) => this.#onData(bytes));
  }

  get isRefused(): boolean {
    return this.#isRefused;
  }

  /** As the client set it. */
  get deadline(): Deadline {
    return this.#call.getDeadline();
  }

  /** Answers with the refusal. */
  answer(error: Error, leaderEndpoint: string | null): void {
    this.#isRefused = true;
    this.#call.sendStatus(errorStatus(error, "no", leaderEndpoint));
  }

  #admitted(listener: Listener): Listener {
    return {
      onReceiveMetadata: (metadata) => this.#onMetadata(metadata, listener),
      onReceiveMessage: (message) => {
        this.#hasMessage = true;
        if (this.#isRepeated) {
          this.#complete();
        }
        if (!this.#isRefused) {
          listener.onReceiveMessage(message);
        }
      },
      onReceiveHalfClose: () => {
        this.#complete();
        if (this.#isRefused) {
          return;
        }
        if (this.#hasMessage || this.#isRepeated) {
          listener.onReceiveHalfClose();
        } else {
          this.#user.refuse(new CoordinationError("BAD_FIELD", "the request ended before its message was complete"));
        }
      },
      onCancel: () => listener.onCancel(),
    };
  }

  #onMetadata(metadata: Metadata, listener: Listener): void {
    const pass = (): void => {
      if (!this.#isRefused && !this.stream.destroyed) {
        listener.onReceiveMetadata(metadata);
      }
    };
    const refuse = (error: unknown): void => {
      if (!this.#isRefused && !this.stream.destroyed) {
        this.#user.refuse(toError(error));
      }
    };
    try {
      const pending = this.#user.admit(metadata);
      if (pending === undefined) {
        pass();
      } else {
        pending.then(pass).catch(refuse);
      }
    } catch (error) {
      refuse(error);
    }
  }

  #onData(bytes: Buffer): void {
    if (this.#isRefused) {
      return;
    }
    try {
      this.open.addBytes(bytes.length);
    } catch (error) {
      this.#user.refuse(toError(error));
    }
  }

  #complete(): void {
    if (!this.#isComplete) {
      this.#isComplete = true;
      this.#user.onComplete();
    }
  }
}
