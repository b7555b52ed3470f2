/** ListStreams: the open streams of one member, by its own knowledge, through any member. */

import { ListStreamsRequest, type ListStreamsResponse, type OpenStream } from "@quoin/proto";
import { type Listing, signPageToken, verifyPageToken } from "../../access/index.ts";
import type { Clock } from "../../replica/index.ts";
import {
  ALL_NAMESPACES,
  CoordinationError,
  decodeText,
  encodeText,
  managedUsers,
  type Principal,
  readCluster,
  readUser,
  requireNamespace,
  type StateReader,
} from "../../state/index.ts";
import { attempt } from "./attempt.ts";
import type { Call, Reply } from "./call.ts";
import type { Executor } from "./executor.ts";
import { memberIdField, namespaceField, streamPageSizeField } from "./field-rules.ts";
import type { HostMember, HostReplica } from "./host.ts";
import { type MemberInspection, streamsAnswer, streamsQuestion } from "./member-inspection.ts";

/** How long to wait for another member, in milliseconds. */
const MEMBER_MS_MAX = 1_000;

interface Asked {
  readonly listing: Listing;
  readonly memberId: number;
  /** The request as the member with the streams gets it: its page token is the number of the last stream. */
  readonly request: ListStreamsRequest;
}

export class StreamListingMethod {
  readonly #executor: Executor;
  readonly #member: HostMember;
  readonly #inspection: MemberInspection;
  readonly #clock: Pick<Clock, "monotonicMs">;

  constructor(executor: Executor, member: HostMember, inspection: MemberInspection, clock: Pick<Clock, "monotonicMs">) {
    this.#executor = executor;
    this.#member = member;
    this.#inspection = inspection;
    this.#clock = clock;
  }

  listStreams(call: Call, request: ListStreamsRequest, reply: Reply<ListStreamsResponse>): void {
    const namespace = request.namespace === "" ? ALL_NAMESPACES : request.namespace;
    this.#executor.administer(
      call,
      { access: "admin", namespace },
      () => this.#asked(request),
      (replica, asked) => this.#list(call, replica, asked, reply),
      reply,
    );
  }

  #asked(request: ListStreamsRequest): Asked {
    const { replica, memberId } = this.#member;
    const namespace = request.namespace === "" ? "" : namespaceField(request.namespace);
    const id = request.memberId === "" ? memberId : memberIdField("member_id", request.memberId);
    const pageSize = streamPageSizeField(request.pageSize);
    const listing: Listing = { of: "streams", namespace, prefix: encodeText(String(id)) };
    const { pageToken } = request;
    const { state } = replica as HostReplica;
    const after = pageToken === "" ? "0" : decodeText(verifyPageToken(state, listing, pageToken));
    return {
      listing,
      memberId: id,
      request: ListStreamsRequest.fromPartial({ namespace, pageSize, pageToken: after }),
    };
  }

  /** Called after a read barrier. */
  #list(
    call: Call,
    replica: HostReplica,
    { listing, memberId, request }: Asked,
    reply: Reply<ListStreamsResponse>,
  ): void {
    const { state } = replica;
    if (request.namespace !== "") {
      requireNamespace(state, request.namespace);
    }
    const answer = (page: ListStreamsResponse): void =>
      reply(
        attempt(() => shownPage(state, call.principal, listing, page)),
        "no",
      );
    if (memberId === this.#member.memberId) {
      answer(this.#inspection.streams(request));
      return;
    }
    if (readCluster(state)?.members.some(({ id }) => id === memberId) !== true) {
      throw new CoordinationError("MEMBER_NOT_FOUND", `there is no member with id ${memberId}`);
    }
    const deadlineMs = Math.min(call.deadlineMs, this.#clock.monotonicMs() + MEMBER_MS_MAX);
    replica.memberCalls.ask(memberId, streamsQuestion(request), deadlineMs, (error, bytes) => {
      const page = error ?? attempt(() => streamsAnswer(bytes as Uint8Array));
      if (page instanceof Error) {
        reply(page, "no");
      } else {
        answer(page);
      }
    });
  }
}

/** The page for the caller: with a signed token, and with the e-mail addresses of users whom the caller may manage. */
function shownPage(
  state: StateReader,
  { subject }: Principal,
  listing: Listing,
  page: ListStreamsResponse,
): ListStreamsResponse {
  const mayManage = managedUsers(state, subject);
  const shown = (stream: OpenStream): OpenStream => ({
    ...stream,
    email: mayManage(stream.userId) ? (readUser(state, stream.userId)?.email ?? "") : "",
  });
  const { nextPageToken: last } = page;
  return {
    ...page,
    streams: page.streams.map(shown),
    nextPageToken: last === "" ? "" : signPageToken(state, listing, encodeText(last)),
  };
}
