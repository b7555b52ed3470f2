/**
 * The connections of a member: a real transport, and a handler that remembers all events.
 *
 * The spec sets the answers of the directory.
 */

import type { LookupFunction } from "node:net";
import {
  type AcceptorView,
  type ConnectedPeer,
  type Frame,
  FrameError,
  type IdentityRefusal,
  type JoinAnswer,
  type JoinRequest,
  type LinkKind,
  type PeerHandler,
  type PeerLimits,
  type PeerMember,
  PeerTransport,
  type PeerTransportOptions,
  type SnapshotReceiver,
} from "../../src/peers/index.ts";
import { CLUSTER_VERSION, CLUSTER_VERSIONS } from "../../src/state/index.ts";
import { until } from "../harness/index.ts";
import { FakePeerClock } from "./fake-peer-clock.ts";

export const CLUSTER_ID = "6f0c9f6e-8a57-4d0e-9d0f-2f6f3c1f7a11";
export const TOKEN = "the token of the specs";

export interface ReceivedFrame {
  readonly peer: number;
  readonly kind: LinkKind;
  readonly type: number;
  readonly text: string;
}

export interface DoubleOptions {
  readonly boot?: number;
  readonly incarnation?: string;
  readonly limits?: Partial<PeerLimits>;
  readonly tls?: PeerTransportOptions["tls"];
  readonly lookup?: LookupFunction;
  readonly dialHint?: string;
  readonly host?: string;
  readonly port?: number;
}

/** The incarnation of the member with this id, unless the spec says otherwise. */
export function incarnationOf(memberId: number): string {
  return memberId.toString(16).padStart(32, "0");
}

export class PeerMemberDouble implements PeerHandler {
  readonly memberId: number;
  readonly clock = new FakePeerClock();
  readonly frames: ReceivedFrame[] = [];
  readonly connected: (ConnectedPeer & { readonly peer: number })[] = [];
  /** All events in their order. */
  readonly events: string[] = [];
  readonly unreachable: number[] = [];
  readonly unsent: { readonly peer: number; readonly kind: LinkKind; readonly texts: readonly string[] }[] = [];
  readonly refusals: { readonly peer: number; readonly refusal: IdentityRefusal }[] = [];
  readonly snapshots: { readonly peer: number; readonly receiver: SnapshotReceiver }[] = [];
  readonly tlsProblems: (string | null)[] = [];
  readonly logLines: string[] = [];
  /** The warnings among the lines, without their subjects. */
  readonly warnings: string[] = [];
  joinTokens: readonly string[] = [TOKEN];
  clusterId: string | null = CLUSTER_ID;
  clusterVersion = CLUSTER_VERSION;
  certainIndex = 100;
  damaged = false;
  readonly boot: number;
  readonly incarnation: string;
  /** Present members by id. */
  readonly directory = new Map<number, string>();
  /** Answers a request for a slot. */
  onJoin: (request: JoinRequest) => Promise<JoinAnswer> = async () => ({ result: "NO_SLOT" });
  host = "127.0.0.1";
  port = 0;
  #transport: PeerTransport | null = null;

  private constructor(memberId: number, options: DoubleOptions) {
    this.memberId = memberId;
    this.boot = options.boot ?? 1;
    this.incarnation = options.incarnation ?? incarnationOf(memberId);
    this.directory.set(memberId, this.incarnation);
  }

  /** A member that accepts connections. */
  static async start(memberId: number, options: DoubleOptions = {}): Promise<PeerMemberDouble> {
    const member = new PeerMemberDouble(memberId, options);
    member.host = options.host ?? member.host;
    member.#transport = await PeerTransport.open({
      handler: member,
      log: {
        info: (fields, message) => member.logLines.push(`${message} ${JSON.stringify(fields)}`),
        warn: (fields, message) => {
          member.logLines.push(`${message} ${JSON.stringify(fields)}`);
          member.warnings.push(message);
        },
      },
      joinTokens: () => member.joinTokens,
      tls: options.tls ?? null,
      limits: options.limits ?? {},
      clock: member.clock,
      random: () => 0.5,
      dialHint: options.dialHint ?? null,
      ...(options.lookup === undefined ? {} : { lookup: options.lookup }),
    });
    member.port = await member.transport.listen("127.0.0.1", options.port ?? 0);
    return member;
  }

  get transport(): PeerTransport {
    if (this.#transport === null) {
      throw new Error("the member is not started");
    }
    return this.#transport;
  }

  /** This member's entry in the lists of others. */
  get listed(): PeerMember {
    return { memberId: this.memberId, incarnation: this.incarnation, address: `${this.host}:${this.port}` };
  }

  /** Adds the others to this member's directory and dials them. */
  knows(...others: readonly PeerMember[]): void {
    this.directory.clear();
    this.directory.set(this.memberId, this.incarnation);
    for (const { memberId, incarnation } of others) {
      this.directory.set(memberId, incarnation);
    }
    this.transport.setPeers([this.listed, ...others]);
  }

  /** Waits until both links to the peer take frames. */
  async reaches(peer: number): Promise<void> {
    await until(`member ${this.memberId} to reach ${peer}`, () => {
      return this.transport.isConnected(peer, "control") && this.transport.isConnected(peer, "log");
    });
  }

  /** Sends a text; false if it was not taken. */
  sendText(peer: number, kind: LinkKind, type: number, text: string): boolean {
    const isTaken = this.transport.send(peer, kind, type, Buffer.from(text));
    this.transport.flush();
    return isTaken;
  }

  /** Texts from a member on a link of this kind. */
  receivedTexts(peer: number, kind: LinkKind): string[] {
    return this.frames.filter((frame) => frame.peer === peer && frame.kind === kind).map(({ text }) => text);
  }

  view(): AcceptorView {
    return {
      clusterId: this.clusterId,
      clusterVersion: this.clusterVersion,
      certainIndex: this.certainIndex,
      self: {
        memberId: this.memberId,
        incarnation: this.incarnation,
        boot: this.boot,
        damaged: this.damaged,
        versions: CLUSTER_VERSIONS,
      },
      incarnationOf: (memberId) => this.directory.get(memberId),
    };
  }

  onConnected(peer: number, connected: ConnectedPeer): void {
    this.connected.push({ peer, ...connected });
    this.events.push(`connected ${peer} boot ${connected.boot}`);
  }

  onUnreachable(peer: number): void {
    this.unreachable.push(peer);
    this.events.push(`unreachable ${peer}`);
  }

  onGone(peer: number): void {
    this.events.push(`gone ${peer}`);
  }

  onUnsent(peer: number, kind: LinkKind, frames: readonly Frame[]): void {
    this.unsent.push({ peer, kind, texts: frames.map(({ body }) => Buffer.from(body).toString()) });
  }

  onFrame(peer: number, kind: LinkKind, frame: Frame): void {
    const text = Buffer.from(frame.body).toString();
    if (text === "not what the type promises") {
      throw new FrameError("a body that the handler does not understand");
    }
    this.frames.push({ peer, kind, type: frame.type, text });
    this.events.push(`frame ${text}`);
  }

  onRefused(peer: number, refusal: IdentityRefusal): void {
    this.refusals.push({ peer, refusal });
  }

  onSnapshot(peer: number, receiver: SnapshotReceiver): void {
    this.snapshots.push({ peer, receiver });
  }

  onTlsProblem(problem: string | null): void {
    this.tlsProblems.push(problem);
  }
}
