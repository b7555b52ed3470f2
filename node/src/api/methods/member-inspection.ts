/**
 * What one member knows about itself: its state, its counters of the last minutes, its open streams, and its backups. It
 * answers callers at this member, and questions of other members, whose callers have been authorised there.
 *
 * A question between members is one byte for its kind, and the request of the contract that it is about.
 */

import {
  type CounterSample,
  GetBackupStatusRequest,
  GetBackupStatusResponse,
  GetMemberCountersRequest,
  ListStreamsRequest,
  ListStreamsResponse,
  MemberCounters,
  OpenStream_Kind,
  type OpenStream as OpenStreamMessage,
} from "@quoin/proto";
import type { MemberBackups } from "../../archive/index.ts";
import { InvariantViolation } from "../../primitives/index.ts";
import { decodeText, derivedIdText, readSettings } from "../../state/index.ts";
import type { OpenStream, StreamSelection } from "../../watch/index.ts";
import { attempt } from "./attempt.ts";
import { backupStatus } from "./backup-messages.ts";
import type { HostMember } from "./host.ts";
import { memberIdText, memberStatus } from "./member-messages.ts";

/** The samples of this member's counters. */
export interface CounterSource {
  /** The samples of the last milliseconds, the oldest first. */
  samplesOf(windowMs: number): readonly CounterSample[];
}

/** A part of this member that has open streams. */
export interface StreamSource {
  /** The selected streams, in the order of their numbers, which no two streams of the member share. */
  openStreams(selection: StreamSelection): readonly OpenStream[];
}

const KINDS = { key: OpenStream_Kind.KEYS, lock: OpenStream_Kind.LOCKS, event: OpenStream_Kind.EVENTS } as const;
/** Bytes of the texts in a page of streams: a page of another member shares a connection with its heartbeats. */
const STREAM_TEXT_MAX = 64 * 1024;

/** The kinds of questions; the numbers are on the wire between members and final. */
const COUNTERS = 1;
const STREAMS = 2;
const BACKUPS = 3;
const MS_PER_SECOND = 1_000;

export class MemberInspection {
  readonly #member: HostMember;
  readonly #counters: CounterSource;
  readonly #streamSources: StreamSource[] = [];
  #backups: MemberBackups | null = null;

  constructor(member: HostMember, counters: CounterSource) {
    this.#member = member;
    this.#counters = counters;
  }

  /** The streams of the source are also listed. */
  addStreams(source: StreamSource): void {
    this.#streamSources.push(source);
  }

  /** The state of these backups also answers questions of other members. */
  addBackups(backups: MemberBackups): void {
    this.#backups = backups;
  }

  /**
   * One page of the open streams, without the addresses of users. The page tokens of the request and of the response
   * are the number of the last stream of a page.
   */
  streams({ namespace, pageSize, pageToken }: ListStreamsRequest): ListStreamsResponse {
    const selection: StreamSelection = {
      namespace: namespace === "" ? null : namespace,
      after: Number(pageToken),
      countMax: pageSize + 1,
    };
    const found = this.#streamSources.flatMap((source) => source.openStreams(selection));
    found.sort((one, other) => one.number - other.number);
    const streams = page(found, pageSize);
    const last = streams.at(-1);
    return {
      streams: streams.map(streamMessage),
      nextPageToken: last !== undefined && streams.length < found.length ? String(last.number) : "",
      memberId: memberIdText(this.#member.memberId),
      revision: BigInt(this.#member.replica?.revision ?? 0),
    };
  }

  /** State and counters of this member. Local: it needs no majority. */
  counters(windowSeconds: number): MemberCounters {
    const { replica } = this.#member;
    const settingsRevision = replica === null ? 0 : readSettings(replica.state).revision;
    return {
      id: memberIdText(this.#member.memberId),
      name: this.#member.name,
      problem: "",
      status: memberStatus(this.#member, replica?.status(), settingsRevision),
      samples: [...this.#counters.samplesOf(windowSeconds * MS_PER_SECOND)],
    };
  }

  /**
   * Answers a question of another member; null = this release does not know it, or cannot answer it now. A question that
   * is malformed, or a failure to read the disk, does not end this process. A broken invariant does.
   */
  answer(question: Uint8Array): Uint8Array | null {
    const answer = attempt(() => this.#answerTo(question));
    if (answer instanceof InvariantViolation) {
      throw answer;
    }
    return answer instanceof Error ? null : answer;
  }

  #answerTo(question: Uint8Array): Uint8Array | null {
    const request = question.subarray(1);
    switch (question[0]) {
      case COUNTERS: {
        const { windowSeconds } = GetMemberCountersRequest.decode(request);
        return MemberCounters.encode(this.counters(windowSeconds)).finish();
      }
      case STREAMS:
        return ListStreamsResponse.encode(this.streams(ListStreamsRequest.decode(request))).finish();
      case BACKUPS: {
        const { id } = GetBackupStatusRequest.decode(request);
        return this.#backups === null ? null : GetBackupStatusResponse.encode(backupStatus(this.#backups, id)).finish();
      }
      default:
        return null;
    }
  }
}

/** The question for `counters` of another member, and its answer. */
export function countersQuestion(windowSeconds: number): Uint8Array {
  return question(COUNTERS, GetMemberCountersRequest.encode({ ids: [], windowSeconds }).finish());
}

export function countersAnswer(answer: Uint8Array): MemberCounters {
  return MemberCounters.decode(answer);
}

/** The question for `streams` of another member, and its answer. */
export function streamsQuestion(request: ListStreamsRequest): Uint8Array {
  return question(STREAMS, ListStreamsRequest.encode(request).finish());
}

export function streamsAnswer(answer: Uint8Array): ListStreamsResponse {
  return ListStreamsResponse.decode(answer);
}

/** The question for the state of the backups of another member. @param id as in `backupStatus` */
export function backupsQuestion(id: string): Uint8Array {
  return question(BACKUPS, GetBackupStatusRequest.encode({ id, memberId: "" }).finish());
}

/** The first streams, at most this many, and at least one if there is one. */
function page(streams: readonly OpenStream[], countMax: number): readonly OpenStream[] {
  let bytes = 0;
  const end = streams.findIndex(({ prefix }, at) => {
    bytes += prefix.length;
    return at >= countMax || (at > 0 && bytes > STREAM_TEXT_MAX);
  });
  return end === -1 ? streams : streams.slice(0, end);
}

function streamMessage(stream: OpenStream): OpenStreamMessage {
  const { number, about, namespace, prefix, logId, principal, openMs, start, delivered, behind } = stream;
  return {
    id: String(number),
    kind: KINDS[about],
    namespace,
    prefix: decodeText(prefix),
    exact: stream.isExact,
    logId: logId === null ? "" : derivedIdText(logId),
    userId: principal.subject,
    email: "",
    apiKeyId: principal.apiKeyId,
    openMs: BigInt(Math.floor(openMs)),
    start: BigInt(start),
    delivered: BigInt(delivered),
    behind: BigInt(behind),
    sending: stream.isSending,
  };
}

function question(kind: number, request: Uint8Array): Uint8Array {
  return Uint8Array.of(kind, ...request);
}
