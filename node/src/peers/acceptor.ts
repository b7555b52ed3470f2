/**
 * The port at which other members and joining processes connect.
 *
 * Until a connection has introduced itself, it may buffer one small frame for a short time, and the number of such
 * connections is bounded. If there are as many, another address takes the place of the oldest one of the address that
 * has the most, and an address from which a member has come before takes one in any case. So silent connections keep no
 * member out, of however many addresses they are.
 *
 * The acceptor checks the join token before it answers anything. With TLS, the certificate must also be valid for the
 * member that the peer claims to be. The source address never counts (P49).
 */

import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, TLSSocket, type Server as TlsServer } from "node:tls";
import { type Held, Shares } from "../collections/index.ts";
import { InvariantViolation } from "../primitives/index.ts";
import { coversHost, coversPattern } from "./certificate-names.ts";
import { clientOf } from "./client-address.ts";
import type { Frame } from "./frame.ts";
import { FrameConnection } from "./frame-connection.ts";
import { FrameType } from "./frame-type.ts";
import { decodeHello, type Hello, speaksProtocol } from "./hello.ts";
import { parseHostPort } from "./host-port.ts";
import { decodeJoin, encodeJoinAnswer, type JoinAnswer, type JoinRequest, type ReceivedJoin } from "./join-codec.ts";
import { isAccepted } from "./join-token.ts";
import { listenAt } from "./listen-at.ts";
import type { PeerEnvironment, PeerTls } from "./peer-environment.ts";
import { RejectedConnectionLog } from "./rejected-connection-log.ts";
import { TLS_VERSION, type TlsSet } from "./tls-files.ts";

/** Addresses of members that are remembered; the oldest one is forgotten first. */
const KNOWN_MAX = 64;
/** An address of a member may have so many silent connections in any case: a member dials one for each kind. */
const SILENT_OF_KNOWN = 8;

export interface AcceptorUser {
  /** The address of a member in the directory, or undefined if this member does not know the id. */
  addressOf(memberId: number): string | undefined;
  /** A connection with the right token and certificate introduces itself. The user must still judge and answer it. */
  onHello(connection: FrameConnection, hello: Hello): void;
}

export class Acceptor {
  readonly #environment: PeerEnvironment;
  readonly #user: AcceptorUser;
  readonly #server: Server;
  readonly #tlsServer: TlsServer | null;
  readonly #rejectedConnections: RejectedConnectionLog;
  /** All TCP connections, so that `stop` can end every one. */
  readonly #sockets = new Set<Socket>();
  /** Those whose first frame has not arrived, by address. */
  readonly #silent = new Shares<Socket>();
  /** The addresses from which members have introduced themselves. That says nothing about who dials from there next. */
  readonly #known = new Set<string>();
  /** All of them by their other end: with TLS, another socket gets the frames. */
  readonly #heldAt = new Map<string, Held<Socket>>();

  constructor(environment: PeerEnvironment, user: AcceptorUser) {
    this.#environment = environment;
    this.#user = user;
    this.#rejectedConnections = new RejectedConnectionLog(environment.log, environment.clock);
    this.#tlsServer = environment.tls === null ? null : createSecureServer(environment.tls, environment.limits.helloMs);
    this.#server = this.#tlsServer ?? createServer();
    this.#server.on("connection", (socket: Socket) => this.#onSocket(socket));
    this.#tlsServer?.on("secureConnection", (socket) => this.#onConnection(socket));
    this.#tlsServer?.on("tlsClientError", (error: NodeJS.ErrnoException, socket) => {
      // A peer may reset a connection that it no longer needs, as superseded dials do. Any other error shows a
      // fault.
      const level = error.code === "ECONNRESET" ? "info" : "warn";
      this.#rejectedConnections.add(level, "a connection to the peer port failed in TLS", error.message);
      socket.destroy();
    });
  }

  /** Starts to listen; resolves with the port, which matters if `port` is 0. Rejects if the port is not available. */
  listen(host: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.once("listening", () => {
        this.#server.off("error", reject);
        this.#server.on("error", (error) => {
          this.#rejectedConnections.add("warn", "the peer port could not accept a connection", error.message);
        });
        const address = this.#server.address();
        resolve(typeof address === "object" && address !== null ? address.port : port);
      });
      listenAt(this.#server, host, port);
    });
  }

  /** New connections see this certificate and these authorities from now on. */
  use(set: TlsSet): void {
    const { cert, key, ca } = set;
    this.#tlsServer?.setSecureContext({ cert, key, ca, minVersion: TLS_VERSION });
  }

  /** Stops listening and drops all connections; resolves when the port is free. */
  async stop(): Promise<void> {
    const closed = this.#server.listening ? new Promise<void>((resolve) => this.#server.close(() => resolve())) : null;
    for (const socket of this.#sockets) {
      socket.destroy();
    }
    await closed;
  }

  /** A TCP connection, before TLS. */
  #onSocket(socket: Socket): void {
    // The socket ends by itself after an error, and its reader sees that; but Node requires a listener.
    socket.on("error", () => socket.destroy());
    const client = clientOf(socket.remoteAddress ?? "");
    if (!this.#hasRoomFor(client)) {
      socket.destroy();
      return;
    }
    const endpoint = endpointOf(socket);
    const held = this.#silent.add(client, socket);
    this.#heldAt.set(endpoint, held);
    this.#sockets.add(socket);
    socket.on("close", () => {
      this.#sockets.delete(socket);
      this.#silent.remove(held);
      // Another connection may have come from there meanwhile.
      if (this.#heldAt.get(endpoint) === held) {
        this.#heldAt.delete(endpoint);
      }
    });
    if (this.#tlsServer === null) {
      this.#onConnection(socket);
    }
  }

  /** Whether one more connection of this address may be silent; if need be, instead of one of another address. */
  #hasRoomFor(client: string): boolean {
    const { handshakesMax } = this.#environment.limits;
    if (this.#silent.size < handshakesMax) {
      return true;
    }
    const reason = `${handshakesMax} connections, ${this.#silent.most} of one address`;
    this.#rejectedConnections.add(
      "warn",
      "too many connections to the peer port have not introduced themselves",
      reason,
    );
    const count = this.#silent.countOf(client);
    const goesFirst = count < SILENT_OF_KNOWN && this.#known.has(client);
    const oldest = goesFirst || this.#silent.yieldsTo(count) ? this.#silent.oldestOfMost : null;
    if (oldest === null) {
      return false;
    }
    this.#silent.remove(oldest);
    oldest.item.destroy();
    return true;
  }

  /** A connection on which the other side may send. */
  #onConnection(socket: Socket): void {
    const { clock, limits } = this.#environment;
    const held = this.#heldAt.get(endpointOf(socket));
    const first = { types: [FrameType.Hello, FrameType.Join], bodyBytesMax: limits.helloBytesMax };
    const connection = new FrameConnection(socket, clock, limits, first, {
      onFrame: (frame) => {
        cancel();
        if (held !== undefined) {
          this.#silent.remove(held);
        }
        this.#onFirstFrame(connection, frame);
      },
      onEnded: (reason) => {
        cancel();
        this.#rejectedConnections.add("warn", "a connection to the peer port was not let in", reason);
      },
    });
    const cancel = clock.after(limits.helloMs, () => connection.end(`no introduction within ${limits.helloMs} ms`));
  }

  #onFirstFrame(connection: FrameConnection, frame: Frame): void {
    if (frame.type === FrameType.Join) {
      this.#onJoin(connection, decodeJoin(frame.body));
    } else {
      this.#onHello(connection, decodeHello(frame.body));
    }
  }

  #onHello(connection: FrameConnection, hello: Hello): void {
    const address = this.#user.addressOf(hello.source.memberId);
    if (this.#isTrusted(connection, hello.joinToken, address)) {
      this.#remember(clientOf(connection.socket.remoteAddress ?? ""));
      this.#user.onHello(connection, hello);
    }
  }

  #remember(client: string): void {
    this.#known.delete(client);
    this.#known.add(client);
    const [oldest] = this.#known;
    if (oldest !== undefined && this.#known.size > KNOWN_MAX) {
      this.#known.delete(oldest);
    }
  }

  #onJoin(connection: FrameConnection, { request, protocol, joinToken }: ReceivedJoin): void {
    if (!this.#isTrusted(connection, joinToken, undefined)) {
      return;
    }
    const { name } = request;
    connection.expectNothing({
      onFrame: () => {},
      onEnded: (reason) => this.#environment.log.info({ name, reason }, "the connection of a join request has ended"),
    });
    if (!speaksProtocol(protocol)) {
      answerJoin(connection, { result: "VERSION" });
      return;
    }
    this.#environment.handler.onJoin(request).then(
      (answer) => answerJoin(connection, answer),
      (error: unknown) => this.#onJoinFailed(connection, request, error),
    );
  }

  #onJoinFailed(connection: FrameConnection, request: JoinRequest, error: unknown): void {
    if (error instanceof InvariantViolation) {
      throw error;
    }
    const reason = error instanceof Error ? error.message : String(error);
    this.#environment.log.warn({ name: request.name, reason }, "a join request could not be answered");
    answerJoin(connection, { result: "TRY_LATER" });
  }

  /** Whether token and certificate are valid; if not, ends the connection without an answer. */
  #isTrusted(connection: FrameConnection, joinToken: string, address: string | undefined): boolean {
    if (!isAccepted(joinToken, this.#environment.joinTokens())) {
      connection.end("a wrong join token");
      return false;
    }
    const { tls } = this.#environment;
    if (tls !== null && !isNamed(connection.socket, address, tls.joinNamePattern)) {
      connection.end("a certificate that is not for the member that presents it");
      return false;
    }
    return true;
  }
}

function endpointOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

function answerJoin(connection: FrameConnection, answer: JoinAnswer): void {
  connection.endWith(FrameType.JoinAnswer, encodeJoinAnswer(answer), "the join request is answered");
}

/** Whether the certificate is valid for the host of the address or, without an address, for the pattern. */
function isNamed(socket: Socket, address: string | undefined, pattern: string): boolean {
  const certificate = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined;
  if (certificate === undefined) {
    return false;
  }
  if (address === undefined) {
    return coversPattern(certificate, pattern);
  }
  const target = parseHostPort(address);
  return target !== null && coversHost(certificate, target.host);
}

function createSecureServer(tls: PeerTls, handshakeMs: number): TlsServer {
  const { cert, key, ca } = tls.files.set;
  return createTlsServer({
    cert,
    key,
    ca,
    minVersion: TLS_VERSION,
    requestCert: true,
    rejectUnauthorized: true,
    handshakeTimeout: handshakeMs,
  });
}
