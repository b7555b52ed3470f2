/**
 * What all calls of a port have in common: the caller from the headers, the caller's rights, and the request id by
 * which a retry is recognised.
 */

import type { MessageCodec } from "@quoin/proto";
import type { RateLimiter } from "../../access/index.ts";
import { invariant } from "../../primitives/index.ts";
import type { Clock } from "../../replica/index.ts";
import { CoordinationError, type Principal, type RequiredAccess } from "../../state/index.ts";
import type { RequestTrace } from "../../tracing/index.ts";
import type { Call, OpenCall } from "../methods/index.ts";
import type { AnsweredCall } from "./answered-call.ts";
import type { Admission, CallAdmission } from "./call-admission.ts";
import type { CallerAccess } from "./caller-access.ts";
import type { ErrorLog } from "./error-log.ts";
import { requestIdBytes } from "./metadata-contract.ts";

/** What all calls of a port share. */
export interface PortContext<Caller extends { readonly principal: Principal }> {
  readonly access: CallerAccess<Caller>;
  /** Checks the headers of every call. */
  readonly callAdmission: CallAdmission<Caller>;
  /** Limits the rate of calls; null = no limit. */
  readonly limiter: RateLimiter | null;
  readonly clock: Clock;
  readonly logger: ErrorLog;
}

/** How the requests of a method are decoded. */
export interface RequestForm<Request> {
  readonly codec: MessageCodec<Request>;
  /** Whether a request carries bytes of its client, and so may be large. Absent = it does not. */
  readonly carriesData?: boolean;
  /** Fields that a request may have, with those of the messages in it; absent = REQUEST_FIELDS_MAX. */
  readonly fieldsMax?: number;
}

/** Bytes of a request that carries no data. To decode a larger one could take longer than to execute it. */
const PLAIN_REQUEST_BYTES_MAX = 64 * 1024;

export abstract class CheckedCall<Caller extends { readonly principal: Principal }>
  implements Call, Pick<OpenCall, "client">
{
  protected readonly port: PortContext<Caller>;
  readonly #path: string;
  readonly #admission: Admission<Caller>;
  readonly trace: RequestTrace | null;
  readonly client: string;

  /** @param path full name of the method. */
  constructor(
    port: PortContext<Caller>,
    path: string,
    call: Pick<AnsweredCall<never>, "admission" | "connection" | "trace">,
  ) {
    this.port = port;
    this.trace = call.trace;
    this.client = call.connection.address;
    this.#path = path;
    this.#admission = port.callAdmission.admission(call);
  }

  abstract get deadlineMs(): number;
  abstract get isGone(): boolean;

  get principal(): Principal {
    return this.#caller.principal;
  }

  get #caller(): Caller {
    const { caller } = this.#admission;
    invariant(caller !== null, "only a method that needs a token uses the caller");
    return caller;
  }

  authorize(need: RequiredAccess | null): undefined | Promise<void> {
    if (this.trace !== null && need !== null && need.namespace !== null) {
      this.trace.namespace = need.namespace;
    }
    return this.port.access.authorize(this.#caller, need, this.deadlineMs);
  }

  recheck(need: RequiredAccess | null): void {
    this.port.access.recheck(this.#caller, need);
  }

  charge(requests: number): void {
    this.port.limiter?.owe(this.principal.subject, requests);
  }

  get hasRequestId(): boolean {
    return this.#admission.requestId !== undefined;
  }

  /** Throws BAD_FIELD. */
  protected decode<Request>(
    { codec, carriesData = false, fieldsMax }: RequestForm<Request>,
    call: Pick<AnsweredCall<never>, "decode">,
    bytes: Buffer,
  ): Request {
    if (!carriesData && bytes.length > PLAIN_REQUEST_BYTES_MAX) {
      throw new CoordinationError("BAD_FIELD", `the request must have at most ${PLAIN_REQUEST_BYTES_MAX} bytes`);
    }
    return call.decode(codec, bytes, fieldsMax);
  }

  requestId(): Uint8Array {
    const { requestId } = this.#admission;
    invariant(requestId !== undefined, "a mutation whose retries are recognised has a request id");
    return requestIdBytes(requestId);
  }

  /** Logs the method and the request id for the operator, never the contents of the request. */
  protected report(error: Error): void {
    const { requestId } = this.#admission;
    const traceId = this.trace?.knownTraceId;
    const fields = { err: error, method: this.#path, requestId };
    this.port.logger.error(
      traceId === undefined ? fields : { ...fields, trace_id: traceId },
      "a request failed because of a bug",
    );
  }
}
