/** Asks members for their open streams, each of them once. */

import { ApiError, type ClusterMember, listStreams, type OpenStream } from "../../api/index.ts";
import type { ListPage } from "../../live/index.ts";

/** An open stream, and the member that has it. */
export interface MemberStream extends OpenStream {
  readonly memberId: string;
  readonly memberName: string;
}

export interface StreamPage extends ListPage<MemberStream> {
  /** Members that did not answer, each with the reason. */
  readonly silent: readonly string[];
}

/**
 * Loads one page of the streams of each of these members. A member that does not answer is a part of the answer.
 *
 * @param next where the pages begin, as the page before says; empty = at the first streams of each member.
 */
export async function loadStreams(
  members: readonly ClusterMember[],
  namespace: string,
  next: string,
  signal: AbortSignal | undefined,
): Promise<StreamPage> {
  const tokens = new Map<string, string>(next === "" ? members.map(({ id }) => [id, ""]) : JSON.parse(next));
  const asked = members.filter(({ id }) => tokens.has(id));
  const answers = await Promise.all(
    asked.map(async ({ id, name }) => {
      const token = tokens.get(id) ?? "";
      try {
        const { streams, nextPageToken } = await listStreams(id, namespace, token, {
          ...(signal !== undefined && { signal }),
          isRepeatable: false,
        });
        return {
          id,
          problem: "",
          next: nextPageToken,
          items: streams.map((one) => ({ ...one, memberId: id, memberName: name })),
        };
      } catch (error) {
        if (!(error instanceof ApiError)) {
          throw error;
        }
        return { id, problem: `${name} does not answer: ${error.message}`, next: token, items: [] };
      }
    }),
  );
  const rest = answers.filter((answer) => answer.next !== "").map((answer) => [answer.id, answer.next]);
  return {
    items: answers.flatMap(({ items }) => items),
    next: rest.length === 0 ? "" : JSON.stringify(rest),
    silent: answers.map(({ problem }) => problem).filter((problem) => problem !== ""),
  };
}
