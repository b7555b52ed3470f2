/**
 * Checks from outside whether a cluster still serves. A member that answers `/readyz` with 200 hears a leader, so a
 * majority exists. A missing answer proves nothing: the network may be the reason.
 *
 * The request contains no secret, so the certificate need not be verified.
 */

import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { Cluster } from "../state/index.ts";

/** The result of the request to one member. */
export interface ProbedMember {
  readonly name: string;
  /** host:port of its HTTP port; "" if the member never announced it. */
  readonly endpoint: string;
  readonly answer: "ready" | "not-ready" | "no-answer";
}

/** Deadline for each member's answer, in milliseconds. */
const ANSWER_MS = 3_000;
const READY_STATUS = 200;
const REQUESTS = [
  { scheme: "http", request: requestHttp },
  { scheme: "https", request: requestHttps },
] as const;

/** Asks all members except this one. Never rejects. */
export function probeOthers(cluster: Cluster | null, memberId: number): Promise<ProbedMember[]> {
  const others = cluster?.members.filter(({ id }) => id !== memberId) ?? [];
  return Promise.all(
    others.map(async ({ name, address: { httpEndpoint: endpoint } }) => {
      return { name, endpoint, answer: await probe(endpoint) };
    }),
  );
}

/** The better of the answers with and without TLS. */
async function probe(endpoint: string): Promise<ProbedMember["answer"]> {
  if (endpoint === "") {
    return "no-answer";
  }
  const statuses = await Promise.all(
    REQUESTS.map(({ scheme, request }) => statusOf(`${scheme}://${endpoint}`, request)),
  );
  if (statuses.includes(READY_STATUS)) {
    return "ready";
  }
  return statuses.some((status) => status === SERVICE_UNAVAILABLE) ? "not-ready" : "no-answer";
}

const SERVICE_UNAVAILABLE = 503;

function statusOf(origin: string, request: typeof requestHttps): Promise<number | null> {
  return new Promise((resolve) => {
    const end = (status: number | null) => resolve(status);
    const options = { timeout: ANSWER_MS, signal: AbortSignal.timeout(ANSWER_MS), rejectUnauthorized: false };
    try {
      request(`${origin}/readyz`, options, (answer) => {
        answer.resume();
        end(answer.statusCode ?? null);
      })
        .on("error", () => end(null))
        .end();
    } catch {
      // The recorded endpoint is not an address.
      end(null);
    }
  });
}
