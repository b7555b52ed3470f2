/**
 * What stands between the clients of one scenario and one member: it forwards calls of gRPC, records them, and lets them
 * meet the faults of the scenario. Addresses of members in answers are those of the proxies, so that a client which
 * follows a leader or learns members stays behind them.
 */

import { once } from "node:events";
import http2 from "node:http2";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type SecureContext, TLSSocket } from "node:tls";
import { status } from "@grpc/grpc-js";
import { encodeStatusDetails, STATUS_DETAILS_TRAILER } from "@quoin/proto";
import type { Effect, ErrorAnswer, Faults } from "./faults.ts";
import { type SentCall, type SentCalls, timeoutMs } from "./sent-calls.ts";
import { type ContractMethod, changed, framesOf, methodOf, neutralOf, setFields } from "./wire.ts";

const HOST = "127.0.0.1";
const { NGHTTP2_CANCEL, NGHTTP2_FLAG_END_STREAM } = http2.constants;
const NOT_FORWARDED: ReadonlySet<string> = new Set(["grpc-accept-encoding", "accept-encoding", "te", "connection"]);

type Headers = http2.OutgoingHttpHeaders;

/** What a proxy shares with the others of its scenario. */
export interface ProxyShare {
  readonly faults: Faults;
  readonly sent: SentCalls;
  /** The address of the proxy of a member, by the name or the address of that member; undefined = unknown. */
  readonly endpointOf: (member: string) => string | undefined;
}

/** A connection of a client. */
interface Front {
  readonly socket: Socket;
  /** The same, or what it carries without encryption. */
  readonly plain: Socket;
  /** Its continuation to the server for HTTP/2 in this proxy. */
  readonly near: Socket;
  /** Whether it has a stream of a method that answers with one. */
  hasStreams: boolean;
}

/** A call on its way. */
interface Passing {
  readonly front: Front;
  readonly method: ContractMethod;
  readonly stream: http2.ServerHttp2Stream;
  readonly headers: Headers;
  readonly call: SentCall;
  readonly body: Buffer;
  readonly effect: Effect;
}

/** The answer of a member to a call. */
interface UnaryAnswer {
  readonly headers: Headers;
  /** Undefined = the member has sent trailers only. */
  readonly frame: Buffer | undefined;
  readonly trailers: Headers;
}

export class MemberProxy {
  readonly member: string;
  readonly port: number;
  readonly #target: string;
  readonly #share: ProxyShare;
  readonly #fronts = new Set<Front>();
  /** Connections that were accepted and get nothing. */
  readonly #ignored = new Set<Socket>();
  readonly #inner: http2.Http2Server;
  #listener: Server | undefined;
  #upstream: http2.ClientHttp2Session | undefined;
  /** Undefined = no TLS. */
  #security: SecureContext | undefined;
  #isDark = false;

  /** @param target `host:port` of the member. */
  constructor(member: string, target: string, port: number, share: ProxyShare) {
    this.member = member;
    this.port = port;
    this.#target = target;
    this.#share = share;
    this.#inner = http2.createServer();
    this.#inner.on("session", (session) => {
      session.on("error", () => undefined);
      const front = this.#frontOf(session);
      if (front !== undefined) {
        session.on("stream", (stream, headers) => this.#receive(front, stream, headers));
      }
    });
  }

  get endpoint(): string {
    return `${HOST}:${this.port}`;
  }

  /** Accepts connections, until `refuse`. */
  async listen(): Promise<void> {
    this.#isDark = false;
    if (this.#listener !== undefined) {
      return;
    }
    if (!this.#inner.listening) {
      this.#inner.listen(0, HOST);
      await once(this.#inner, "listening");
    }
    this.#listener = createServer((socket) => this.#accept(socket));
    this.#listener.listen(this.port, HOST);
    await once(this.#listener, "listening");
  }

  /** Accepts no connection any more, and breaks those that are open. */
  refuse(): void {
    this.#listener?.close();
    this.#listener = undefined;
    this.#breakAll([...this.#fronts]);
    for (const socket of this.#ignored) {
      socket.destroy();
    }
  }

  /** Carries nothing any more over the open connections, and answers nothing on new ones. */
  goDark(): void {
    this.#isDark = true;
    for (const { plain, near } of this.#fronts) {
      plain.unpipe(near).pause();
      near.unpipe(plain);
    }
  }

  /** How many connections of clients are open. */
  get connections(): number {
    return this.#fronts.size + this.#ignored.size;
  }

  /** Speaks TLS from now on; connections before break. */
  encrypt(context: SecureContext): void {
    this.#security = context;
    this.#breakAll([...this.#fronts]);
  }

  /** Breaks all connections with streams. */
  cutStreams(): void {
    this.#breakAll([...this.#fronts].filter(({ hasStreams }) => hasStreams));
  }

  close(): void {
    this.refuse();
    this.#upstream?.destroy();
    this.#inner.close();
  }

  #breakAll(fronts: readonly Front[]): void {
    for (const { socket } of fronts) {
      socket.destroy();
    }
  }

  #accept(socket: Socket): void {
    socket.setNoDelay(true).on("error", () => undefined);
    if (this.#isDark) {
      this.#ignored.add(socket.pause());
      socket.once("close", () => this.#ignored.delete(socket));
      return;
    }
    const near = connect((this.#inner.address() as AddressInfo).port, HOST);
    near.setNoDelay(true).on("error", () => undefined);
    const front: Front = { socket, plain: this.#plainOf(socket), near, hasStreams: false };
    this.#fronts.add(front);
    front.plain.pipe(near);
    near.pipe(front.plain);
    near.once("close", () => socket.destroy());
    socket.once("close", () => {
      this.#fronts.delete(front);
      near.destroy();
    });
  }

  /** What a connection carries without its encryption. */
  #plainOf(socket: Socket): Socket {
    if (this.#security === undefined) {
      return socket;
    }
    const plain = new TLSSocket(socket, { isServer: true, secureContext: this.#security, ALPNProtocols: ["h2"] });
    return plain.on("error", () => socket.destroy());
  }

  /** Finds the connection of a client to which a session belongs: the session ends at the other end of it. */
  #frontOf({ socket }: http2.ServerHttp2Session): Front | undefined {
    return [...this.#fronts].find(({ near }) => near.localPort === socket.remotePort);
  }

  #receive(front: Front, stream: http2.ServerHttp2Stream, headers: Headers): void {
    const path = String(headers[":path"]);
    stream.on("error", () => undefined);
    const method = methodOf(path);
    if (method === undefined) {
      respondWith(stream, { code: "UNIMPLEMENTED", message: `${path} is not in the contract` }, undefined);
      return;
    }
    front.hasStreams ||= method.isStream;
    const call: SentCall = {
      method: method.name,
      member: this.member,
      atMs: performance.now(),
      requestId: String(headers["request-id"] ?? ""),
      apiVersion: String(headers["api-version"] ?? ""),
      token: String(headers.authorization ?? ""),
      deadlineMs: timeoutMs(headers["grpc-timeout"] as string | undefined),
      request: undefined,
      fields: undefined,
      isCancelled: false,
    };
    this.#share.sent.add(call);
    stream.once("close", () => {
      call.isCancelled = stream.aborted && stream.rstCode === NGHTTP2_CANCEL && !front.socket.destroyed;
    });
    const parts: Buffer[] = [];
    stream.on("data", (part: Buffer) => parts.push(part));
    stream.once("end", () => {
      const body = Buffer.concat(parts);
      call.request = body;
      call.fields = neutralOf(method.request, body);
      const effect = this.#share.faults.meet(method.name, this.member) ?? {};
      void this.#pass({ front, method, stream, headers, call, body, effect });
    });
  }

  async #pass(passing: Passing): Promise<void> {
    const { effect, stream, front, method } = passing;
    if (effect.hang === true) {
      return;
    }
    if (effect.delay_ms !== undefined) {
      await sleep(effect.delay_ms);
    }
    if (stream.closed) {
      return;
    }
    if (effect.answer !== undefined) {
      this.#refuseCall(stream, effect.answer);
    } else if (effect.cut === true) {
      front.socket.destroy();
    } else {
      this.#forward(passing, method.isStream);
    }
  }

  #refuseCall(stream: http2.ServerHttp2Stream, answer: ErrorAnswer): void {
    respondWith(stream, answer, answer.leader === undefined ? undefined : this.#share.endpointOf(answer.leader));
  }

  #forward(passing: Passing, isStream: boolean): void {
    const { stream, headers, body, front } = passing;
    const forwarded = Object.entries(headers).filter(([name]) => !NOT_FORWARDED.has(name));
    const upstream = this.#connected().request({ ...Object.fromEntries(forwarded), te: "trailers" });
    upstream.on("error", () => undefined);
    let isComplete = false;
    upstream.once("response", (_, flags) => {
      isComplete ||= (flags & NGHTTP2_FLAG_END_STREAM) !== 0;
    });
    upstream.once("trailers", () => {
      isComplete = true;
    });
    upstream.once("close", () => {
      if (isComplete || stream.closed) {
        return;
      }
      // A client whose connection to the member is lost loses its own.
      if (upstream.session === undefined || upstream.session.destroyed) {
        front.socket.destroy();
      } else {
        stream.close(upstream.rstCode);
      }
    });
    stream.once("close", () => upstream.close(NGHTTP2_CANCEL));
    upstream.end(body);
    if (isStream) {
      this.#passStream(passing, upstream);
    } else {
      collect(upstream, (answer) => this.#answer(passing, answer));
    }
  }

  #answer({ stream, effect, front, method }: Passing, { headers, frame, trailers }: UnaryAnswer): void {
    if (stream.closed) {
      return;
    }
    if (effect.lose_answer === "cut") {
      front.socket.destroy();
    } else if (effect.lose_answer !== undefined) {
      this.#refuseCall(stream, effect.lose_answer);
    } else if (frame === undefined) {
      stream.respond(this.#rewritten({ ...headers, ...trailers }), { endStream: true });
    } else {
      stream.respond(headers, { waitForTrailers: true });
      stream.once("wantTrailers", () => stream.sendTrailers(this.#rewritten(trailers)));
      stream.end(this.#changedAnswer(method, effect, frame));
    }
  }

  #changedAnswer(method: ContractMethod, { change = {} }: Effect, frame: Buffer): Buffer {
    if (method.name !== "GetCluster" && Object.keys(change).length === 0) {
      return frame;
    }
    return changed(method.response, frame, (message) => {
      setFields(message, change);
      for (const member of method.name === "GetCluster" ? (message.members as { grpcEndpoint: string }[]) : []) {
        member.grpcEndpoint = this.#share.endpointOf(member.grpcEndpoint) ?? member.grpcEndpoint;
      }
    });
  }

  /** Passes the messages of a stream, until its end or its fault. */
  #passStream({ stream, effect, front }: Passing, upstream: http2.ClientHttp2Stream): void {
    const { end_after: endAfter = Number.POSITIVE_INFINITY, silence_after: silenceAfter = Number.POSITIVE_INFINITY } =
      effect;
    let trailers: Headers = {};
    let rest: Buffer = Buffer.alloc(0);
    let passed = 0;
    upstream.once("response", (headers, flags) => {
      if ((flags & NGHTTP2_FLAG_END_STREAM) !== 0) {
        stream.respond(this.#rewritten(headers), { endStream: true });
        return;
      }
      stream.respond(headers, { waitForTrailers: true });
      stream.once("wantTrailers", () => stream.sendTrailers(this.#rewritten(trailers)));
    });
    let isComplete = false;
    upstream.once("trailers", (received) => {
      trailers = received;
      isComplete = true;
    });
    upstream.on("data", (part: Buffer) => {
      const received = framesOf(Buffer.concat([rest, part]));
      ({ rest } = received);
      for (const frame of received.frames) {
        if (passed >= Math.min(endAfter, silenceAfter) || stream.closed) {
          return;
        }
        passed += 1;
        stream.write(frame);
        if (passed === endAfter) {
          trailers = this.#endStream(stream, front, effect);
        }
      }
    });
    upstream.once("end", () => {
      if (isComplete && passed < silenceAfter && !stream.closed) {
        stream.end();
      }
    });
  }

  /** Ends a stream in the middle; returns its trailers. */
  #endStream(stream: http2.ServerHttp2Stream, front: Front, { with: how = "cut" }: Effect): Headers {
    if (how === "cut") {
      // The client answers a ping when it has received everything before.
      stream.write(Buffer.alloc(0), () => stream.session?.ping(() => front.socket.destroy()));
      return {};
    }
    stream.end();
    return statusHeaders(how, how.leader === undefined ? undefined : this.#share.endpointOf(how.leader));
  }

  #rewritten(headers: Headers): Headers {
    const leader = headers["leader-endpoint"];
    return typeof leader === "string"
      ? { ...headers, "leader-endpoint": this.#share.endpointOf(leader) ?? leader }
      : headers;
  }

  #connected(): http2.ClientHttp2Session {
    if (this.#upstream === undefined || this.#upstream.closed || this.#upstream.destroyed) {
      this.#upstream = http2.connect(`http://${this.#target}`);
      this.#upstream.on("error", () => undefined);
    }
    return this.#upstream;
  }
}

function collect(upstream: http2.ClientHttp2Stream, onAnswer: (answer: UnaryAnswer) => void): void {
  let headers: Headers = {};
  let trailers: Headers = {};
  let isComplete = false;
  const parts: Buffer[] = [];
  upstream.once("response", (received, flags) => {
    headers = received;
    isComplete = (flags & NGHTTP2_FLAG_END_STREAM) !== 0;
  });
  upstream.once("trailers", (received) => {
    trailers = received;
    isComplete = true;
  });
  upstream.on("data", (part: Buffer) => parts.push(part));
  upstream.once("end", () => {
    if (isComplete) {
      onAnswer({ headers, frame: parts.length === 0 ? undefined : Buffer.concat(parts), trailers });
    }
  });
}

function respondWith(stream: http2.ServerHttp2Stream, answer: ErrorAnswer, leader: string | undefined): void {
  const fixed = { ":status": 200, "content-type": "application/grpc+proto" };
  stream.respond({ ...fixed, ...statusHeaders(answer, leader) }, { endStream: true });
}

function statusHeaders(answer: ErrorAnswer, leader: string | undefined): Headers {
  const { code: name, reason, outcome, message = "refused by the scenario", retry_after_ms, details = {} } = answer;
  const code = status[name as keyof typeof status];
  const headers: Record<string, string> = { "grpc-status": String(code), "grpc-message": encodeURIComponent(message) };
  if (reason !== undefined) {
    headers["error-reason"] = reason;
    const metadata = new Map(Object.entries(details));
    const retryDelay = retry_after_ms === undefined ? {} : { retryDelayMs: retry_after_ms };
    const encoded = encodeStatusDetails({ code, message, reason, metadata, ...retryDelay });
    headers[STATUS_DETAILS_TRAILER] = encoded.toString("base64");
  }
  if (outcome !== undefined) {
    headers.outcome = outcome;
  }
  if (leader !== undefined) {
    headers["leader-endpoint"] = leader;
  }
  return headers;
}
