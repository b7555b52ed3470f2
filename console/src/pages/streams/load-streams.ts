/** Asks members for their open streams, each of them once. */

import { type ClusterMember, listStreams, type OpenStream, orProblem } from "../../api/index.ts";
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
      const options = { ...(signal !== undefined && { signal }), isRepeatable: false };
      const { value, problem } = await orProblem(listStreams(id, namespace, token, options));
      const items = (value?.streams ?? []).map((one) => ({ ...one, memberId: id, memberName: name }));
      return {
        id,
        items,
        next: value?.nextPageToken ?? token,
        problem: value === null ? `${name} does not answer: ${problem}` : "",
      };
    }),
  );
  const rest = answers.filter((answer) => answer.next !== "").map((answer) => [answer.id, answer.next]);
  return {
    items: answers.flatMap(({ items }) => items),
    next: rest.length === 0 ? "" : JSON.stringify(rest),
    silent: answers.map(({ problem }) => problem).filter((problem) => problem !== ""),
  };
}
