/** Users of a SingleReplica with real tokens, and their commands and the owner's: for specs of permissions. */

import { randomBytes, randomUUID } from "node:crypto";
import { type Access, createApiKeyMaterial } from "../../src/access/index.ts";
import {
  type ClientOperation,
  CoordinationError,
  type Principal,
  type Result,
  type Role,
} from "../../src/state/index.ts";
import { createUser, type FoundedCluster, TOKEN_SHA256, updateUser } from "../index.ts";
import type { SingleReplica } from "./single-replica.ts";

/** A user, with the API key and the token that it has. */
export interface Actor extends Principal {
  readonly role: Role;
  readonly namespaces: readonly string[];
  readonly token: string;
}

type ResultOf<Kind> = Extract<Result, { readonly kind: Kind }>;

export class Actors {
  readonly #replica: SingleReplica;
  readonly #access: Access;
  readonly #owner: Principal;

  constructor(cluster: FoundedCluster, replica: SingleReplica, access: Access) {
    this.#replica = replica;
    this.#access = access;
    this.#owner = { subject: cluster.ownerId, apiKeyId: "" };
  }

  /** A verified user of this role, with an API key and an exchanged token. */
  async add(role: Role, namespaces: readonly string[], userId: string = randomUUID()): Promise<Actor> {
    this.do(createUser(userId, { role: "member" }));
    this.verify(userId);
    const { apiKey, apiKeyId } = this.apiKey(userId);
    this.do(updateUser(userId, { role, namespaces }));
    const issued = await this.#access.exchangeApiKey(apiKey, null, Number.POSITIVE_INFINITY);
    if (issued === null) {
      throw new Error("the key of a new user gives no token");
    }
    return { subject: userId, apiKeyId, role, namespaces, token: issued.accessToken };
  }

  /** Verifies the address of a new user. */
  verify(userId: string): void {
    this.#replica.lead({ kind: "verify-user", userId, tokenSha256: TOKEN_SHA256, passwordHash: "" });
  }

  /** A new API key of the user. */
  apiKey(userId: string): { readonly apiKey: string; readonly apiKeyId: string } {
    const { apiKey, apiKeyId, prefix, sha256 } = createApiKeyMaterial();
    const creation = { kind: "create-api-key", apiKeyId, name: "k", prefix, sha256, lifetimeMs: 0 } as const;
    this.do(creation, { subject: userId, apiKeyId: "" });
    return { apiKey, apiKeyId };
  }

  /** Lets the actor act as an owner for a moment, whatever its role is before and after. */
  asOwner<Done>({ subject, role, namespaces }: Actor, act: () => Done): Done {
    this.do(updateUser(subject, { role: "owner", namespaces: ["*"] }));
    const done = act();
    this.do(updateUser(subject, { role, namespaces }));
    return done;
  }

  /** Executes a request, by default for the owner; throws the refusal. */
  do<Kind extends ClientOperation["kind"]>(
    operation: ClientOperation & { readonly kind: Kind },
    principal: Principal = this.#owner,
  ): ResultOf<Kind> {
    const request = { requestId: randomBytes(16) };
    const { answer } = this.#replica.execute({ principal: withoutKey(principal), request, operation });
    if (answer instanceof CoordinationError) {
      throw answer;
    }
    // A result is of its operation's kind.
    return answer as ResultOf<Kind>;
  }
}

/** The principal of the user without an API key. */
function withoutKey({ subject }: Principal): Principal {
  return { subject, apiKeyId: "" };
}
