/**
 * A call over HTTP by the Connect protocol, from its headers to its last byte: the part that unary calls and streams
 * share.
 *
 * The headers are checked before the body is read. A client may leave out `api-version`, which is then v1, and
 * `request-id`, which is then made; the answer has it in its headers.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { MessageCodec } from "@quoin/proto";
import type { RequestTrace } from "../../tracing/index.ts";
import {
  type CallPort,
  type CallProtocol,
  type CallStatus,
  type ClientConnection,
  IncomingCall,
  type Inflation,
  plainStatus,
  REQUEST_BYTES_MAX,
  requestInflater,
  type StatusCode,
  status,
} from "../calls/index.ts";
import { requestIdOf, traceOf } from "../http/index.ts";
import { decodeJson } from "../json/index.ts";
import { type ContentType, headerOf, timeoutMsOf } from "./connect-headers.ts";
import type { ConnectMethod } from "./connect-method.ts";
import { RequestBody } from "./request-body.ts";

/** The message of a request within its body. */
export interface RequestMessage {
  readonly message: Buffer;
  readonly isCompressed: boolean;
}

/** Maximum bytes of a request in JSON: base64 makes a message of bytes a third larger. */
const JSON_BYTES_MAX = REQUEST_BYTES_MAX + REQUEST_BYTES_MAX / 2;
const API_VERSION: readonly string[] = ["v1"];
const PROTOCOL_VERSION = "1";

export abstract class ConnectCall extends IncomingCall {
  protected readonly served: ConnectMethod;
  protected readonly request: IncomingMessage;
  protected readonly response: ServerResponse;
  protected readonly type: ContentType;
  /** Whether the client speaks the protocol, and expects its messages and nothing else. */
  protected readonly isProtocolClient: boolean;
  readonly #body: RequestBody;
  #inflation: Inflation | null = null;
  #isEnded = false;

  constructor(
    port: CallPort,
    method: ConnectMethod,
    connection: ClientConnection,
    type: ContentType,
    request: IncomingMessage,
    response: ServerResponse,
  ) {
    super(port, method, connection, timeoutMsOf(headerOf(request, "connect-timeout-ms")));
    this.served = method;
    this.request = request;
    this.response = response;
    this.type = type;
    this.isProtocolClient = request.headers["connect-protocol-version"] !== undefined;
    this.#body = new RequestBody(type.form === "json" ? JSON_BYTES_MAX : REQUEST_BYTES_MAX);
  }

  override get protocol(): CallProtocol {
    return "connect";
  }

  /** The header that names the encoding of the request's message. */
  protected abstract get encodingHeader(): "content-encoding" | "connect-content-encoding";
  /** Returns the message within the body, or what is wrong with the body. */
  protected abstract messageOf(body: Buffer): RequestMessage | string;
  /** Sends the status to the client. */
  protected abstract sendStatus(answer: CallStatus): void;

  /** Checks the headers. Then the call reads the body, or ends. */
  begin(): void {
    // Now, because a refusal ends the trace too.
    this.trace = traceOf(this.request);
    this.response.once("close", () => {
      this.#stop();
      this.finish();
      this.close();
    });
    const problem = this.#problemOfHeaders();
    if (problem !== null) {
      this.end(problem);
      return;
    }
    this.receiveHeaders();
  }

  values(name: string): readonly string[] {
    const given = this.request.headersDistinct[name] ?? [];
    if (given.length > 0) {
      return given;
    }
    return name === "request-id" ? [requestIdOf(this.request)] : name === "api-version" ? API_VERSION : given;
  }

  /** The HTTP port has begun one when the request arrived. */
  protected override beginTrace(): RequestTrace | null {
    return this.trace;
  }

  override decode<Request>(codec: MessageCodec<Request>, request: Buffer, fieldsMax?: number): Request {
    return this.type.form === "json"
      ? (decodeJson(codec.$type, request, fieldsMax) as Request)
      : super.decode(codec, request, fieldsMax);
  }

  end(answer: CallStatus): void {
    if (this.isGone) {
      return;
    }
    this.#stop();
    this.countEnd(answer.code, answer.reason);
    this.sendStatus(answer);
  }

  protected get isGone(): boolean {
    return this.#isEnded || this.response.closed;
  }

  protected pass(): void {
    const { request, response } = this;
    const announcedBytes = Number(request.headers["content-length"] ?? 0);
    if (announcedBytes > this.#body.bytesMax) {
      this.end(this.#tooLarge());
      return;
    }
    if (request.headers.expect?.toLowerCase() === "100-continue") {
      response.writeContinue();
    }
    request.on("data", (piece: Buffer) => this.#onData(piece, announcedBytes));
    request.on("end", () => this.#onEnd());
    // "close" of the response follows an error of the request.
    request.on("error", ignore);
  }

  /** Notes that nothing more may be sent after what is sent in this turn. */
  protected stopForAnswer(code: StatusCode, reason: string): void {
    this.#stop();
    this.countEnd(code, reason);
  }

  #problemOfHeaders(): CallStatus | null {
    const { request } = this;
    const version = headerOf(request, "connect-protocol-version");
    if (version !== undefined && version !== PROTOCOL_VERSION) {
      return plainStatus(status.INVALID_ARGUMENT, `connect-protocol-version must be ${PROTOCOL_VERSION}`);
    }
    if (this.timeoutMs === null) {
      return plainStatus(status.INVALID_ARGUMENT, "connect-timeout-ms must be a whole number of at most 10 digits");
    }
    const encoding = headerOf(request, this.encodingHeader) ?? "identity";
    return encoding === "identity" || encoding === "gzip"
      ? null
      : plainStatus(status.UNIMPLEMENTED, `the ${this.encodingHeader} must be gzip or identity`);
  }

  #onData(piece: Buffer, announcedBytes: number): void {
    if (this.isGone) {
      return;
    }
    this.receiveBytes(piece.length);
    if (!this.isGone && !this.#body.add(piece, announcedBytes)) {
      this.end(this.#tooLarge());
    }
  }

  #tooLarge(): CallStatus {
    const { bytesMax } = this.#body;
    return plainStatus(status.RESOURCE_EXHAUSTED, `the body of the request must have at most ${bytesMax} bytes`);
  }

  #onEnd(): void {
    if (this.isGone) {
      return;
    }
    const found = this.messageOf(this.#body.bytes);
    if (typeof found === "string") {
      this.end(plainStatus(status.INVALID_ARGUMENT, found));
      return;
    }
    if (!this.receiveMessage() || !this.receiveEnd()) {
      return;
    }
    if (!found.isCompressed) {
      this.run(this.served.handler, found.message);
      return;
    }
    const { bytesMax } = this.#body;
    this.#inflation = requestInflater.inflate(found.message, bytesMax, (error, message) => {
      this.#inflation = null;
      if (this.isGone) {
        return;
      }
      if (error !== null) {
        this.end(problemOfGzip(error, bytesMax));
        return;
      }
      this.receiveBytes(message.length);
      if (!this.isGone) {
        this.run(this.served.handler, message);
      }
    });
  }

  #stop(): void {
    this.#isEnded = true;
    this.#body.discard();
    if (this.#inflation !== null) {
      requestInflater.cancel(this.#inflation);
      this.#inflation = null;
    }
    this.stopTimer();
  }
}

function problemOfGzip(error: NodeJS.ErrnoException, bytesMax: number): CallStatus {
  return error.code === "ERR_BUFFER_TOO_LARGE"
    ? plainStatus(status.RESOURCE_EXHAUSTED, `the request is larger than ${bytesMax} bytes without gzip`)
    : plainStatus(status.INVALID_ARGUMENT, "the request is not valid gzip");
}

function ignore(): void {}
