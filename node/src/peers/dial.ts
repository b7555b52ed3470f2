/**
 * One attempt to reach a member: connect, verify its certificate, send the first frame, wait for the answer.
 *
 * The name is resolved for this attempt alone (P49), or not at all where the member itself has said at which IP address
 * it is reached: names of what has just started are unknown for a while, and those of what has moved lead astray. The
 * certificate is verified for the name in either case. What follows on the connection is the caller's.
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
  /** Where its name leads, by its own word; null to resolve the name. */
  readonly dialHint: string | null;
  readonly first: Frame;
  readonly answerType: number;
  readonly answerBytesMax: number;
  /** For everything until the answer, in milliseconds. */
  readonly limitMs: number;
  /** Called once the connection stands; the first frame leaves when `go` is called. */
  readonly beforeFirst?: (go: () => void) => void;
}

export interface DialUser {
  /** Called once, with a connection of which the answer is the first frame. May raise a FrameError. */
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
      // Told later, as every other failure is: the caller has not got this object yet.
      queueMicrotask(() => this.#fail(`${plan.address} is no address`));
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

  /** Ends the attempt, unless it is over; the user hears nothing more. */
  cancel(): void {
    if (this.#finish()) {
      this.#connection?.end("not wanted any more");
    }
  }

  /** Ends the attempt, unless it is over; the user hears why. */
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
  // Whoever is known by an address has said so too.
  const target = isIP(host) === 0 ? (dialHint ?? host) : host;
  if (tls === null) {
    return connectTcp({ host: target, port, lookup });
  }
  return connectTls({
    host: target,
    port,
    lookup,
    // An address is no server name (RFC 6066, section 3).
    servername: isIP(host) === 0 ? host : "",
    secureContext: tls.files.set.context,
    minVersion: TLS_VERSION,
    checkServerIdentity: (_name, { raw }) => {
      return coversHost(new X509Certificate(raw), host) ? undefined : new Error(`the certificate is not for ${host}`);
    },
  });
}
