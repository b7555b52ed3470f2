/** Sessions at a Quoin member. */

import {
  CreateSessionRequest,
  ListSessionsRequest,
  PutSettingsRequest,
  RenewSessionsRequest,
  serviceDefinitions,
} from "@quoin/proto";
import type { CreatedSession, Sessions } from "./connection.ts";
import { NAMESPACE } from "./quoin-headers.ts";
import type { Ask } from "./unary-calls.ts";

const { ClusterAdminService, SessionService } = serviceDefinitions;
const namespace = NAMESPACE;
/** More than a benchmark creates. By default, a namespace has at most 20,000. */
export const SESSIONS_MAX = 1_000_000;
const PAGE_SIZE = 1_000;

export class QuoinSessions implements Sessions {
  readonly revisionsPerCreation = 1n;
  readonly #ask: Ask;

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  async allowMany(): Promise<void> {
    const values = new Map([["quota.namespace.sessions", String(SESSIONS_MAX)]]);
    await this.#ask(ClusterAdminService.putSettings, PutSettingsRequest.fromPartial({ values }));
  }

  async create(ttlSeconds: number): Promise<CreatedSession> {
    const request = CreateSessionRequest.fromPartial({ namespace, ttlSeconds: BigInt(ttlSeconds) });
    const { sessionId, revision } = await this.#ask(SessionService.createSession, request);
    return { id: sessionId, revision };
  }

  async renew(ids: readonly bigint[]): Promise<bigint> {
    const request = RenewSessionsRequest.fromPartial({
      namespace,
      sessions: ids.map((sessionId) => ({ sessionId })),
    });
    const { sessions, revision } = await this.#ask(SessionService.renewSessions, request);
    for (const [at, id] of ids.entries()) {
      const renewed = sessions[at];
      if (renewed?.sessionId !== id || renewed.expiresInMs <= 0n) {
        throw new Error(`session ${id} has ended`);
      }
    }
    return revision;
  }

  async count(): Promise<number> {
    let count = 0;
    let pageToken = "";
    do {
      const request = ListSessionsRequest.fromPartial({ namespace, pageSize: PAGE_SIZE, pageToken });
      const { items, nextPageToken } = await this.#ask(SessionService.listSessions, request);
      count += items.length;
      pageToken = nextPageToken;
    } while (pageToken !== "");
    return count;
  }
}
