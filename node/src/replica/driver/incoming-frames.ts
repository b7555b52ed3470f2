/**
 * Frames of other members: decoded when they arrive, processed in a turn.
 *
 * A body that does not match its type raises a FrameError at once, which ends the connection. Every kept frame is fully
 * checked, so that no frame of a peer can break an invariant of this member. When a peer restarts, its earlier frames
 * are dropped: their requests are void (P34).
 */

import {
  decodeForward,
  decodeForwarded,
  decodeForwardRefused,
  decodeLeaderReply,
  decodeLeaderRequest,
  decodeLeaderTick,
  decodeMemberReport,
  decodeMessage,
  type Forward,
  type Frame,
  FrameError,
  FrameType,
  isMessageType,
  type LinkKind,
} from "../../peers/index.ts";
import { InvariantViolation } from "../../primitives/index.ts";
import { EntryType } from "../../raft/index.ts";
import { decodeCommand, decodeMembershipEntry } from "../../state/index.ts";
import type { Timeline } from "../../tracing/index.ts";
import type { ReplicaContext } from "../context/index.ts";
import type { ArrivedFrame } from "./arrived-frame.ts";
import { noteArrived } from "./message-times.ts";

/** Log frames that one turn processes, and their bytes; the rest waits for the next turn. */
const FRAMES_PER_TURN = 1_024;
const FRAME_BYTES_PER_TURN = 8 * 1024 * 1024;

export class IncomingFrames {
  readonly #memberId: number;
  readonly #timeline: Timeline | null;
  readonly #clock: ReplicaContext["clock"];
  #control: ArrivedFrame[] = [];
  #log: ArrivedFrame[] = [];
  /** Boot number of each peer, which distinguishes the attempts of its processes. */
  readonly #boots = new Map<number, number>();

  constructor({ memberId, timeline, clock }: Pick<ReplicaContext, "memberId" | "timeline" | "clock">) {
    this.#memberId = memberId;
    this.#timeline = timeline;
    this.#clock = clock;
  }

  get hasMore(): boolean {
    return this.#log.length > 0;
  }

  /** A connection with this process of the peer is verified. */
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
    if (this.#timeline !== null && arrived.kind === "message") {
      noteArrived(this.#timeline, arrived.message, this.#clock);
    }
    (kind === "control" ? this.#control : this.#log).push(arrived);
  }

  /** Returns the frames for this turn: all control frames, then as many log frames as a turn may process. */
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
        return { ...header, kind: "question", request: decodeLeaderRequest(body) };
      case FrameType.Reply:
        return { ...header, kind: "reply", reply: decodeLeaderReply(body) };
      case FrameType.Forward: {
        const forward = decodeForward(body);
        checkAttempts(forward);
        const arrivedMs = this.#timeline === null ? 0 : this.#clock.monotonicMs();
        return { ...header, kind: "forward", boot: this.#boots.get(peer) ?? 0, forward, arrivedMs };
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

/** Checks that every attempt could be an entry. All of them decode completely before any is proposed. */
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
        // The bytes came from outside, so this member has no bug.
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
