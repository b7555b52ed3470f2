/** A connection of a client: finds the method of each request, and refuses requests that are not calls of a method. */
import type { Socket } from "node:net";
import {
  type CloseResult,
  type ConnectionHandler,
  ErrorCode,
  isFlood,
  type ServerConnection,
  type ServerStream,
  type StreamHandler,
} from "../../http2/index.ts";
import { beginningOf } from "../../primitives/index.ts";
import { type CallPort, ClientConnection, plainStatus, status } from "../calls/index.ts";
import type { ConnectionReports } from "../connections/index.ts";
import { METHOD_NOT_ALLOWED, statusFields, UNSUPPORTED_MEDIA_TYPE } from "./answer-fields.ts";
import { type ClosureLog, CUT } from "./closure-log.ts";
import { type CallSurroundings, WireCall } from "./wire-call.ts";
import type { WireMethod } from "./wire-method.ts";

export interface HostConnectionOptions {
  readonly connection: ServerConnection;
  readonly socket: Socket;
  readonly port: CallPort;
  /** Methods by their full names. */
  readonly methods: ReadonlyMap<string, WireMethod>;
  readonly closeLog: ClosureLog;
  readonly connections: ConnectionReports;
}

/** The content type of gRPC, also with a suffix. */
const CONTENT_TYPE = /^application\/grpc(?:[+;]|$)/i;

const ignore = (): void => undefined;
/** The handler of a stream that is answered already. */
const ANSWERED: StreamHandler = { onData: ignore, onEnd: ignore, onReset: ignore, onWritable: ignore };

export class HostConnection implements ConnectionHandler {
  readonly #methods: ReadonlyMap<string, WireMethod>;
  readonly #closeLog: ClosureLog;
  readonly #connections: ConnectionReports;
  readonly #address: string;
  readonly #peer: string;
  readonly #surroundings: CallSurroundings;
  #isDisconnected = false;

  constructor({ connection, socket, port, methods, closeLog, connections }: HostConnectionOptions) {
    this.#methods = methods;
    this.#closeLog = closeLog;
    this.#connections = connections;
    this.#address = socket.remoteAddress ?? "";
    this.#peer = `${this.#address}:${socket.remotePort}`;
    const disconnect = (): void => {
      this.#isDisconnected = true;
      connection.close(ErrorCode.EnhanceYourCalm);
    };
    const client = new ClientConnection(this.#address, disconnect, (user) => connections.verified(socket, user));
    this.#surroundings = { port, client, connection };
  }

  get owner(): string {
    return this.#surroundings.client.owner;
  }

  get isKnown(): boolean {
    return this.#surroundings.client.isVerified;
  }

  onRequest(stream: ServerStream, fields: readonly string[]): StreamHandler {
    let verb = "";
    let path = "";
    let contentType = "";
    let timeout: string | undefined;
    let encoding: string | undefined;
    for (let at = 0; at < fields.length; at += 2) {
      const value = fields[at + 1] as string;
      switch (fields[at]) {
        case ":method":
          verb = value;
          break;
        case ":path":
          path = value;
          break;
        case "content-type":
          contentType ||= value;
          break;
        case "grpc-timeout":
          timeout ??= value;
          break;
        case "grpc-encoding":
          encoding ??= value;
          break;
        default:
      }
    }
    if (verb !== "POST") {
      return this.#refuse(stream, METHOD_NOT_ALLOWED);
    }
    if (!CONTENT_TYPE.test(contentType)) {
      return this.#refuse(stream, UNSUPPORTED_MEDIA_TYPE);
    }
    const method = this.#methods.get(path);
    if (method === undefined) {
      const message = `The server does not implement the method ${beginningOf(path)}`;
      const unknown = plainStatus(status.UNIMPLEMENTED, message);
      return this.#refuse(stream, statusFields(unknown, true));
    }
    const call = new WireCall(this.#surroundings, method, stream, fields, { timeout, encoding });
    call.begin();
    if (!stream.isOpen) {
      // The call was refused, or its connection was closed, before the call could be the stream's handler.
      call.onReset();
    }
    return call;
  }

  onClosed({ reason, code }: CloseResult): void {
    if (this.#isDisconnected || isFlood(reason)) {
      this.#connections.slowDown(this.#address);
    }
    if (code !== ErrorCode.NoError) {
      this.#closeLog.closed(this.#isDisconnected ? CUT : reason, this.#peer);
    }
  }

  #refuse(stream: ServerStream, fields: readonly string[]): StreamHandler {
    const { connection, client, port } = this.#surroundings;
    connection.end(stream, fields);
    connection.countStreamError();
    port.callAdmission.refuseRequest(client);
    return ANSWERED;
  }
}
