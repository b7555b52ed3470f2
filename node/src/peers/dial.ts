/**
 * One attempt to reach a member: connect, verify its certificate, send the first frame, wait for the answer.
 *
 * This attempt resolves the name itself (P49), or uses the IP address that the member has announced. The announced
 * address matters because the name of a new member is unknown for a while, and the name of a moved member may be
 * outdated. In both cases the dial verifies the certificate for the name. The caller handles everything after the
 * answer.
 */

import { X509Certificate } from "node:crypto";
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { coversHost } from "./certificate-names.ts";
import { type Frame, FrameError } from "./frame.ts";
import { FrameConnection } from "./frame-connection.ts";
import { type HostPort, parseHostPort } from "./host-port.ts";
import type { PeerEnvironment } from "./peer-environment.ts";
import { TLS_VERSION } from "./tls-files.ts";

export interface DialPlan {
  /** host:port of the member. */
  readonly address: string;
  /** The IP address that the member has announced; null to resolve the name. */
  readonly dialHint: string | null;
  readonly first: Frame;
  readonly answerType: number;
  readonly answerBytesMax: number;
  /** Limit for everything until the answer, in milliseconds. */
  readonly limitMs: number;
  /** Called once the connection is open; the first frame leaves when the callee calls `go`. */
  readonly beforeFirst?: (go: () => void) => void;
}

export interface DialUser {
  /** Called once; the answer is the connection's first frame. May raise a FrameError. */
  onAnswer(connection: FrameConnection, body: Uint8Array): void;
  /** Called once: no answer came, or a wrong one. `isRefused`: nothing listens at the address. */
  onFailed(reason: string, isRefused: boolean): void;
}

export class Dial {
  readonly #user: DialUser;
  readonly #cancelTimer: () => void;
  #connection: FrameConnection | null = null;
  #over = false;
  #isRefused = false;

  constructor(environment: PeerEnvironment, plan: DialPlan, user: DialUser) {
    this.#user = user;
    this.#cancelTimer = environment.clock.after(plan.limitMs, () => {
      this.#fail(`no answer within ${plan.limitMs} ms`);
    });
    const target = parseHostPort(plan.address);
    if (target === null) {
      // Fails later, like every other failure, because the caller does not have this object yet.
      queueMicrotask(() => this.#fail(`${plan.address} is not a host:port address`));
      return;
    }
    const first = { types: [plan.answerType], bodyBytesMax: plan.answerBytesMax };
    const socket = open(environment, target, plan.dialHint);
    socket.once("error", (error: NodeJS.ErrnoException) => {
      this.#isRefused = error.code === "ECONNREFUSED";
    });
    const connection = new FrameConnection(socket, environment.clock, environment.limits, first, {
      onFrame: (frame) => this.#onAnswer(connection, frame),
      onEnded: (reason) => this.#fail(reason),
    });
    const introduce = (): void => connection.write(plan.first.type, plan.first.body);
    connection.socket.once(environment.tls === null ? "connect" : "secureConnect", () => {
      if (plan.beforeFirst === undefined) {
        introduce();
      } else {
        plan.beforeFirst(introduce);
      }
    });
    this.#connection = connection;
  }

  /** Ends the attempt, unless it is over, without a call to the user. */
  cancel(): void {
    if (this.#finish()) {
      this.#connection?.end("not wanted any more");
    }
  }

  /** Ends the attempt, unless it is over, and gives the user the reason. */
  stop(reason: string): void {
    this.#fail(reason);
  }

  #onAnswer(connection: FrameConnection, frame: Frame): void {
    if (!this.#finish()) {
      return;
    }
    try {
      this.#user.onAnswer(connection, frame.body);
    } catch (error) {
      if (error instanceof FrameError) {
        this.#user.onFailed(error.message, false);
      }
      throw error;
    }
  }

  #fail(reason: string): void {
    if (this.#finish()) {
      this.#connection?.end(reason);
      this.#user.onFailed(reason, this.#isRefused);
    }
  }

  #finish(): boolean {
    if (this.#over) {
      return false;
    }
    this.#over = true;
    this.#cancelTimer();
    return true;
  }
}

function open(environment: PeerEnvironment, { host, port }: HostPort, dialHint: string | null): Socket {
  const { lookup, tls } = environment;
  // A member whose address is an IP address has announced that address itself.
  const target = isIP(host) === 0 ? (dialHint ?? host) : host;
  if (tls === null) {
    return connectTcp({ host: target, port, lookup });
  }
  return connectTls({
    host: target,
    port,
    lookup,
    // An IP address is not a valid server name (RFC 6066, section 3).
    servername: isIP(host) === 0 ? host : "",
    secureContext: tls.files.set.context,
    minVersion: TLS_VERSION,
    checkServerIdentity: (_name, { raw }) => {
      return coversHost(new X509Certificate(raw), host) ? undefined : new Error(`the certificate is not for ${host}`);
    },
  });
}
