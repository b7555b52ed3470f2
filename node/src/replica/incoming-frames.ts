/**
 * Frames of other members, decoded when they arrive and looked at in a turn.
 *
 * A body that is not what its type promises raises a FrameError at once, which ends the connection; what is kept is
 * wholly checked, so that nothing that a peer sends can break a rule of this member. Frames of a peer that has
 * restarted are dropped: what they asked is void (P34).
 */

import {
  decodeForward,
  decodeForwarded,
  decodeForwardRefused,
  decodeLeaderTick,
  decodeMemberReport,
  decodeMessage,
  decodeQuestion,
  decodeReply,
  type Forward,
  type Forwarded,
  type ForwardRefused,
  type Frame,
  FrameError,
  FrameType,
  isMessageType,
  type LeaderTick,
  type LinkKind,
  type MemberReport,
  type Question,
  type Reply,
} from "../peers/index.ts";
import { EntryType, InvariantViolation, type Message } from "../raft/index.ts";
import { decodeCommand, decodeMembershipEntry } from "../state/index.ts";
import { stampArrived } from "./message-stamps.ts";

export type ArrivedFrame = { readonly peer: number; readonly bytes: number } & (
  | { readonly kind: "message"; readonly message: Message }
  | { readonly kind: "tick"; readonly tick: LeaderTick }
  | { readonly kind: "report"; readonly report: MemberReport }
  | { readonly kind: "question"; readonly question: Question }
  | { readonly kind: "reply"; readonly reply: Reply }
  | { readonly kind: "forward"; readonly boot: number; readonly forward: Forward }
  | { readonly kind: "forwarded"; readonly forwarded: Forwarded }
  | { readonly kind: "refused"; readonly refused: ForwardRefused }
);

/** Log frames that one turn looks at, and bytes of them; the rest waits for the next. */
const FRAMES_PER_TURN = 1_024;
const FRAME_BYTES_PER_TURN = 8 * 1024 * 1024;

export class IncomingFrames {
  readonly #memberId: number;
  #control: ArrivedFrame[] = [];
  #log: ArrivedFrame[] = [];
  /** Number of the start of each peer, by which its attempts are told apart. */
  readonly #boots = new Map<number, number>();

  constructor(memberId: number) {
    this.#memberId = memberId;
  }

  get hasMore(): boolean {
    return this.#log.length > 0;
  }

  /** A verified connection of this start of the peer. */
  onConnected(peer: number, boot: number, restarted: boolean): void {
    this.#boots.set(peer, boot);
    if (restarted) {
      this.#control = this.#control.filter((frame) => frame.peer !== peer);
      this.#log = this.#log.filter((frame) => frame.peer !== peer);
    }
  }

  /** Keeps the frame for the next turn. Raises a FrameError. */
  push(peer: number, kind: LinkKind, frame: Frame): void {
    const arrived = this.#decode(peer, frame);
    stampArrived(arrived);
    (kind === "control" ? this.#control : this.#log).push(arrived);
  }

  /** What this turn looks at: everything that is urgent, then as much of the rest as a turn takes. */
  take(): ArrivedFrame[] {
    const frames = this.#control;
    this.#control = [];
    let bytes = 0;
    let count = 0;
    while (count < this.#log.length && count < FRAMES_PER_TURN && bytes < FRAME_BYTES_PER_TURN) {
      const frame = this.#log[count] as ArrivedFrame;
      frames.push(frame);
      bytes += frame.bytes;
      count++;
    }
    this.#log = count === this.#log.length ? [] : this.#log.slice(count);
    return frames;
  }

  #decode(peer: number, { type, body }: Frame): ArrivedFrame {
    const header = { peer, bytes: body.length };
    if (isMessageType(type)) {
      return { ...header, kind: "message", message: decodeMessage(type, body, peer, this.#memberId) };
    }
    switch (type) {
      case FrameType.ClusterTick:
        return { ...header, kind: "tick", tick: decodeLeaderTick(body) };
      case FrameType.MemberReport:
        return { ...header, kind: "report", report: decodeMemberReport(body) };
      case FrameType.Question:
        return { ...header, kind: "question", question: decodeQuestion(body) };
      case FrameType.Reply:
        return { ...header, kind: "reply", reply: decodeReply(body) };
      case FrameType.Forward: {
        const forward = decodeForward(body);
        checkAttempts(forward);
        return { ...header, kind: "forward", boot: this.#boots.get(peer) ?? 0, forward };
      }
      case FrameType.Forwarded:
        return { ...header, kind: "forwarded", forwarded: decodeForwarded(body) };
      case FrameType.Refused:
        return { ...header, kind: "refused", refused: decodeForwardRefused(body) };
      default:
        throw new FrameError(`frames of type ${type} are not for the driver`);
    }
  }
}

/** Every attempt is one that could be an entry: it decodes wholly, before anything of it is proposed. */
function checkAttempts({ attempts }: Forward): void {
  for (const { kind, row } of attempts) {
    try {
      switch (kind) {
        case EntryType.Command:
          decodeCommand(row);
          break;
        case EntryType.AddSlot:
        case EntryType.Reconfigure:
          checkChange(kind, row);
          break;
        default:
          throw new FrameError(`entries of type ${kind} are not forwarded`);
      }
    } catch (error) {
      if (error instanceof InvariantViolation) {
        // The bytes came from outside, so nothing of this member is broken.
        throw new FrameError("a forwarded attempt cannot be decoded", { cause: error });
      }
      throw error;
    }
  }
}

function checkChange(kind: number, row: Uint8Array): void {
  const isAddition = decodeMembershipEntry(row).operation.kind === "add-slot";
  if (isAddition !== (kind === EntryType.AddSlot)) {
    throw new FrameError("a forwarded change is of another type than its entry");
  }
}
