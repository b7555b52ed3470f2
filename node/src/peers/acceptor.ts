/**
 * The port at which other members and joining processes arrive.
 *
 * Until a connection has said who it is, it may hold one small frame and little time, and there is a bound on how many
 * do so. The join token is compared before anything is answered; with TLS the certificate must moreover stand for the
 * member that it claims to be. Where a connection comes from is never used (P49).
 */

import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, TLSSocket, type Server as TlsServer } from "node:tls";
import { InvariantViolation } from "../raft/index.ts";
import { coversHost, coversPattern } from "./certificate-names.ts";
import type { Frame } from "./frame.ts";
import { FrameConnection } from "./frame-connection.ts";
import { FrameType } from "./frame-type.ts";
import { decodeHello, type Hello, speaksProtocol } from "./hello.ts";
import { parseHostPort } from "./host-port.ts";
import { decodeJoin, encodeJoinAnswer, type JoinAnswer, type JoinRequest, type ReceivedJoin } from "./join-codec.ts";
import { isAccepted } from "./join-token.ts";
import { listenAt } from "./listen-at.ts";
import type { PeerEnvironment, PeerTls } from "./peer-environment.ts";
import { StrangerLog } from "./stranger-log.ts";
import { TLS_VERSION, type TlsSet } from "./tls-files.ts";

export interface AcceptorUser {
  /** The address of a member of the directory, or undefined if this member does not know its id. */
  addressOf(memberId: number): string | undefined;
  /** A connection with the right token and certificate introduces itself. It is not judged yet, and not answered. */
  onHello(connection: FrameConnection, hello: Hello): void;
}

export class Acceptor {
  readonly #environment: PeerEnvironment;
  readonly #user: AcceptorUser;
  readonly #server: Server;
  readonly #tlsServer: TlsServer | null;
  readonly #strangers: StrangerLog;
  /** All TCP connections, so that stopping leaves none. */
  readonly #sockets = new Set<Socket>();
  /** Those on which a first frame came. */
  readonly #introduced = new Set<FrameConnection>();

  constructor(environment: PeerEnvironment, user: AcceptorUser) {
    this.#environment = environment;
    this.#user = user;
    this.#strangers = new StrangerLog(environment.log, environment.clock);
    this.#tlsServer = environment.tls === null ? null : createSecureServer(environment.tls, environment.limits.helloMs);
    this.#server = this.#tlsServer ?? createServer();
    this.#server.on("connection", (socket: Socket) => this.#onSocket(socket));
    this.#tlsServer?.on("secureConnection", (socket) => this.#onConnection(socket));
    this.#tlsServer?.on("tlsClientError", (error: NodeJS.ErrnoException, socket) => {
      // Who goes away has changed its mind, as dials do that have become pointless; all else is wrong with somebody.
      const level = error.code === "ECONNRESET" ? "info" : "warn";
      this.#strangers.add(level, "a connection to the peer port failed in TLS", error.message);
      socket.destroy();
    });
  }

  /** Begins to accept; resolves with the port, which matters if 0 was asked for. Rejects if the port cannot be had. */
  listen(host: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.once("listening", () => {
        this.#server.off("error", reject);
        this.#server.on("error", (error) => {
          this.#strangers.add("warn", "the peer port could not accept a connection", error.message);
        });
        const address = this.#server.address();
        resolve(typeof address === "object" && address !== null ? address.port : port);
      });
      listenAt(this.#server, host, port);
    });
  }

  /** Connections that arrive from now on meet this certificate and these authorities. */
  use(set: TlsSet): void {
    const { cert, key, ca } = set;
    this.#tlsServer?.setSecureContext({ cert, key, ca, minVersion: TLS_VERSION });
  }

  /** Accepts no more and drops what is there; resolves when the port is free. */
  async stop(): Promise<void> {
    const closed = this.#server.listening ? new Promise<void>((resolve) => this.#server.close(() => resolve())) : null;
    for (const socket of this.#sockets) {
      socket.destroy();
    }
    await closed;
  }

  /** A TCP connection, before TLS. */
  #onSocket(socket: Socket): void {
    // Errors end the socket by themselves, and whoever reads from it hears of them; a listener there must be.
    socket.on("error", () => socket.destroy());
    if (this.#sockets.size - this.#introduced.size >= this.#environment.limits.handshakesMax) {
      const reason = `${this.#environment.limits.handshakesMax} connections`;
      this.#strangers.add("warn", "too many connections to the peer port have not introduced themselves", reason);
      socket.destroy();
      return;
    }
    this.#sockets.add(socket);
    socket.on("close", () => this.#sockets.delete(socket));
    if (this.#tlsServer === null) {
      this.#onConnection(socket);
    }
  }

  /** A connection on which the other side may speak. */
  #onConnection(socket: Socket): void {
    const { clock, limits } = this.#environment;
    const first = { types: [FrameType.Hello, FrameType.Join], bodyBytesMax: limits.helloBytesMax };
    const connection = new FrameConnection(socket, clock, limits, first, {
      onFrame: (frame) => {
        cancel();
        this.#introduced.add(connection);
        this.#onFirstFrame(connection, frame);
      },
      onEnded: (reason) => {
        cancel();
        this.#strangers.add("warn", "a connection to the peer port was not let in", reason);
      },
    });
    const cancel = clock.after(limits.helloMs, () => connection.end(`no introduction within ${limits.helloMs} ms`));
    socket.on("close", () => this.#introduced.delete(connection));
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
      this.#user.onHello(connection, hello);
    }
  }

  #onJoin(connection: FrameConnection, { request, protocol, joinToken }: ReceivedJoin): void {
    if (!this.#isTrusted(connection, joinToken, undefined)) {
      return;
    }
    const { name } = request;
    connection.expectNothing({
      onFrame: () => {},
      onEnded: (reason) => this.#environment.log.info({ name, reason }, "the question for a slot is over"),
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
    this.#environment.log.warn({ name: request.name, reason }, "a question for a slot could not be answered");
    answerJoin(connection, { result: "TRY_LATER" });
  }

  /** Whether token and certificate are right; otherwise the connection ends without a word. */
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

function answerJoin(connection: FrameConnection, answer: JoinAnswer): void {
  connection.endWith(FrameType.JoinAnswer, encodeJoinAnswer(answer), "the question for a slot is answered");
}

/** Whether the certificate stands for the host of the address, or, without an address, for the pattern. */
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
