/** A unary call: its message is the body, and its answer is a body with a status of HTTP. */

import { gzip } from "node:zlib";
import { invariant } from "../../primitives/index.ts";
import type { Replayed } from "../../state/index.ts";
import { type CallStatus, replayedField, status } from "../calls/index.ts";
import { encodeJson } from "../json/index.ts";
import { type SharedForms, sharedForms } from "../methods/index.ts";
import { ConnectCall, type RequestMessage } from "./connect-call.ts";
import { connectError, errorFields, httpStatusOf } from "./connect-error.ts";
import { acceptsGzip, answerType, headerOf } from "./connect-headers.ts";

/** A smaller answer is not worth the time: it leaves in one packet anyway. */
const GZIP_BYTES_MIN = 1_024;
/** The fastest level: values are mostly small, and the processor also serves other calls. */
const GZIP_OPTIONS = { level: 1 };
const HTTP_OK = 200;

export class UnaryConnectCall extends ConnectCall {
  protected get encodingHeader(): "content-encoding" {
    return "content-encoding";
  }

  protected messageOf(body: Buffer): RequestMessage {
    const isCompressed = body.length > 0 && headerOf(this.request, this.encodingHeader) === "gzip";
    return { message: body, isCompressed };
  }

  answer(response: unknown, replayed: Replayed): void {
    if (this.isGone) {
      return;
    }
    const forms = sharedForms(response as object);
    const form = `${this.type.form}${this.isProtocolClient ? " of the protocol" : ""}`;
    const body = forms?.get(form) ?? this.encoded(response, (whole) => this.#encode(whole));
    if (body === null) {
      return;
    }
    forms?.set(form, body);
    this.stopForAnswer(status.OK, "");
    const fields = ["Content-Type", answerType(this.type), ...replayedField(replayed)];
    if (body.length < GZIP_BYTES_MIN || !acceptsGzip(headerOf(this.request, "accept-encoding"))) {
      this.#send(HTTP_OK, fields, body);
      return;
    }
    this.#sendCompressed(fields, body, forms, `${form} in gzip`);
  }

  #sendCompressed(fields: readonly string[], body: Uint8Array, forms: SharedForms | undefined, form: string): void {
    const compressedFields = [...fields, "Content-Encoding", "gzip"];
    const known = forms?.get(form);
    if (known !== undefined) {
      this.#send(HTTP_OK, compressedFields, known);
      return;
    }
    gzip(body, GZIP_OPTIONS, (error, compressed) => {
      if (error === null) {
        forms?.set(form, compressed);
        this.#send(HTTP_OK, compressedFields, compressed);
      } else {
        this.#send(HTTP_OK, fields, body);
      }
    });
  }

  send(): void {
    invariant(false, "only a method that answers with a stream sends messages");
  }

  protected sendStatus(answer: CallStatus): void {
    const body = Buffer.from(JSON.stringify(connectError(answer)));
    const fields = ["Content-Type", "application/json", ...answer.fields, ...errorFields(answer)];
    this.#send(httpStatusOf(answer), fields, body);
  }

  #encode(response: unknown): Uint8Array {
    const { serialize, responseCodec } = this.served;
    return this.type.form === "json"
      ? Buffer.from(encodeJson(responseCodec.$type, response as object, !this.isProtocolClient))
      : serialize(response as never);
  }

  #send(code: number, fields: readonly string[], body: Uint8Array): void {
    const { response } = this;
    if (response.closed) {
      return;
    }
    for (let at = 0; at < fields.length; at += 2) {
      response.setHeader(fields[at] as string, fields[at + 1] as string);
    }
    response.setHeader("Content-Length", body.length);
    response.statusCode = code;
    response.end(body);
  }
}
