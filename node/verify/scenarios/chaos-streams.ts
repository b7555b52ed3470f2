/**
 * Snapshot streams between members in memory, step by step; each step may be the last.
 *
 * The host opens a stream when a leader wants one, and offers it. If the receiver wants it, the stream places the
 * snapshot at its end. The receiver switches over some time after its log has followed. When a stream breaks, both
 * members that are still up receive the news.
 */

import { pairOf } from "./chaos-network.ts";
import type { Member, Snapshot } from "./member.ts";

/** A stream in progress. */
interface Stream {
  readonly to: number;
  readonly snapshot: Snapshot;
  isOffered: boolean;
}

/** The parts of the cluster that the streams need. */
export interface StreamHost {
  readonly random: (bound: number) => number;
  readonly member: (id: number) => Member;
  readonly hasMet: (one: number, other: number) => boolean;
  /** Gives one input to the member and takes its effects. */
  readonly input: (member: Member, what: string, input: () => void) => void;
  readonly installed: (member: Member) => void;
}

export class ChaosStreams {
  readonly #host: StreamHost;
  /** Pairs "from>to" for which a leader wants a stream. */
  readonly #wanted = new Set<string>();
  /** Members whose log has followed a snapshot and that have not switched over yet. */
  readonly #following = new Set<number>();
  #streams: Stream[] = [];

  constructor(host: StreamHost) {
    this.#host = host;
  }

  want(from: number, to: number): void {
    this.#wanted.add(`${from}>${to}`);
  }

  logHasFollowed(id: number): void {
    this.#following.add(id);
  }

  /** The member is down. */
  forget(id: number): void {
    this.#following.delete(id);
    this.#end(({ to, snapshot: { from } }) => to === id || from === id);
  }

  endBetween(one: number, other: number): void {
    this.#end(({ to, snapshot: { from } }) => pairOf(from, to) === pairOf(one, other));
  }

  endAllTo(id: number): void {
    this.#end(({ to }) => to === id);
  }

  /** Switches over every member that can, opens a wanted stream, and moves one of the others a step further. */
  step(isHealing: boolean): void {
    for (const member of [...this.#following].map(this.#host.member)) {
      this.#following.delete(member.id);
      this.#host.input(member, "switches over", () => member.finishInstall());
      this.#host.installed(member);
    }
    const [wanted] = this.#wanted;
    if (wanted !== undefined) {
      this.#wanted.delete(wanted);
      this.#open(wanted);
    }
    const stream = this.#streams[this.#host.random(Math.max(1, this.#streams.length))];
    if (stream !== undefined && !isHealing && this.#host.random(6) === 0) {
      this.#end((each) => each === stream);
    } else if (stream !== undefined && !stream.isOffered) {
      this.#offer(stream);
    } else if (stream !== undefined) {
      this.#place(stream);
    }
  }

  #open(wanted: string): void {
    const [from, to] = wanted.split(">").map(Number) as [number, number];
    const [sender, receiver] = [this.#host.member(from), this.#host.member(to)];
    const isNeeded = sender.isUp && sender.running.peer(to)?.wantsSnapshot(Number.MAX_SAFE_INTEGER) === true;
    if (isNeeded && receiver.isUp && sender.placed === null && this.#host.hasMet(from, to)) {
      const snapshot = sender.snapshot();
      this.#streams.push({ to, snapshot, isOffered: false });
      this.#host.input(sender, `streams ${snapshot.index} to ${to}`, () => {
        sender.running.onSnapshotStarted(to, snapshot.index);
      });
    }
  }

  #offer(stream: Stream): void {
    stream.isOffered = true;
    const { to, snapshot } = stream;
    const { from, leaderTerm: term, index, term: entryTerm } = snapshot;
    const receiver = this.#host.member(to);
    let verdict = "";
    this.#host.input(receiver, `is offered ${index}/${entryTerm} of ${from}`, () => {
      verdict = receiver.running.offerSnapshot({ from, term, index, entryTerm });
    });
    if (verdict === "install") {
      // It replaces the snapshot that was being received.
      this.#end((each) => each !== stream && each.to === to && each.isOffered, false);
    } else {
      this.#end((each) => each === stream, false);
    }
  }

  #place(stream: Stream): void {
    const { to, snapshot } = stream;
    const [sender, receiver] = [this.#host.member(snapshot.from), this.#host.member(to)];
    this.#streams = this.#streams.filter((each) => each !== stream);
    this.#host.input(sender, `has sent all to ${to}`, () => sender.running.onSnapshotEnded(to, true));
    this.#host.input(receiver, `places ${snapshot.index}`, () => receiver.place(snapshot));
  }

  /**
   * Ends the streams early. Members that are still up are informed; the receiver only if it has not ended them itself.
   */
  #end(isEnded: (stream: Stream) => boolean, isReceiverTold = true): void {
    const ended = this.#streams.filter(isEnded);
    this.#streams = this.#streams.filter((stream) => !ended.includes(stream));
    for (const { to, snapshot, isOffered } of ended) {
      const [sender, receiver] = [this.#host.member(snapshot.from), this.#host.member(to)];
      if (receiver.isUp && isReceiverTold && isOffered) {
        this.#host.input(receiver, "stops receiving", () => receiver.running.abandonInstall());
      }
      if (sender.isUp) {
        this.#host.input(sender, `has failed to send to ${to}`, () => sender.running.onSnapshotEnded(to, false));
      }
    }
  }
}
