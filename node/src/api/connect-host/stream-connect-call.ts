/**
 * A call that is answered with a stream: messages in envelopes, and a last envelope with the status. The HTTP status is
 * always 200, because the protocol has the status in the last envelope.
 */

import { invariant } from "../../primitives/index.ts";
import { type CallStatus, STREAM_HEADERS } from "../calls/index.ts";
import { forgetHeaders } from "../http/index.ts";
import { encodeJson } from "../json/index.ts";
import { ConnectCall, type RequestMessage } from "./connect-call.ts";
import { connectError } from "./connect-error.ts";
import { answerType, headerOf } from "./connect-headers.ts";

/** One byte of flags, and the length of the message in four bytes. */
const PREFIX_BYTES = 5;
const COMPRESSED = 0b01;
const END_OF_STREAM = 0b10;
/** A client that has not taken a message after this time, in milliseconds, is disconnected. */
const STALL_MS = 60_000;

export class StreamConnectCall extends ConnectCall {
  protected get encodingHeader(): "connect-content-encoding" {
    return "connect-content-encoding";
  }

  protected messageOf(body: Buffer): RequestMessage | string {
    if (body.length < PREFIX_BYTES || body.length < PREFIX_BYTES + body.readUInt32BE(1)) {
      return "the request ended before its message was complete";
    }
    const flags = body[0] as number;
    if (body.length > PREFIX_BYTES + body.readUInt32BE(1) || (flags & ~COMPRESSED) !== 0) {
      return "the request must have one message, in one envelope";
    }
    const isCompressed = (flags & COMPRESSED) !== 0;
    if (isCompressed && headerOf(this.request, this.encodingHeader) !== "gzip") {
      return `the message is compressed, but the request has no ${this.encodingHeader}`;
    }
    return { message: body.subarray(PREFIX_BYTES), isCompressed };
  }

  answer(): void {
    invariant(false, "a method that answers with a stream has no single answer");
  }

  send(message: Uint8Array, taken: () => void): void {
    if (this.isGone) {
      return;
    }
    const bytes = this.encoded(message, (whole) => this.#encode(whole));
    if (bytes === null) {
      return;
    }
    this.#begin();
    const stalled = setTimeout(() => this.response.destroy(), STALL_MS);
    this.response.write(enveloped(bytes, 0), (error) => {
      clearTimeout(stalled);
      if (!error && !this.isGone) {
        taken();
      }
    });
  }

  protected sendStatus(answer: CallStatus): void {
    this.#begin();
    const metadata: Record<string, string[]> = {};
    for (let at = 0; at < answer.fields.length; at += 2) {
      metadata[answer.fields[at] as string] = [answer.fields[at + 1] as string];
    }
    const last = answer.code === 0 ? { metadata } : { error: connectError(answer), metadata };
    this.response.end(enveloped(Buffer.from(JSON.stringify(last)), END_OF_STREAM));
  }

  #begin(): void {
    if (!this.response.headersSent) {
      forgetHeaders(this.request);
      this.response.writeHead(200, { "Content-Type": answerType(this.type), ...STREAM_HEADERS });
    }
  }

  #encode(message: Uint8Array): Uint8Array {
    if (this.type.form === "proto") {
      return message;
    }
    const { responseCodec } = this.served;
    const decoded = responseCodec.decode(message) as object;
    return Buffer.from(encodeJson(responseCodec.$type, decoded, !this.isProtocolClient));
  }
}

function enveloped(message: Uint8Array, flags: number): Buffer {
  const envelope = Buffer.allocUnsafe(PREFIX_BYTES + message.length);
  envelope[0] = flags;
  envelope.writeUInt32BE(message.length, 1);
  envelope.set(message, PREFIX_BYTES);
  return envelope;
}
