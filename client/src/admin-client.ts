/**
 * The client of one member's administration: the part of the ClusterAdminService that asks that very member, and founds a
 * cluster on it. It talks to the admin port with an admin token, or to the public port with a token that has the access
 * `admin` in all namespaces; Bootstrap is served on the admin port only.
 */

import {
  BootstrapResponse,
  enumName,
  GetStatusResponse,
  ListMembersResponse,
  MemberRole,
  MemberState,
  type MemberStatus as MemberStatusMessage,
  serviceDefinitions,
} from "@quoin/proto";
import { type ChannelOptions, openChannel } from "./channel.ts";
import { defaultTimeoutMs } from "./client.ts";
import { type Credentials, createTokenSource } from "./credentials.ts";
import { assertEndpoints } from "./endpoint.ts";
import { EndpointPool } from "./endpoint-pool.ts";
import { type CallOptions, execute, type OperationContext } from "./operation.ts";
import { type Plain, toPlain } from "./plain-message.ts";
import { QuoinError } from "./quoin-error.ts";
import { textField } from "./request-field.ts";
import { type Runtime, systemRuntime } from "./runtime.ts";
import { assertTls, type TlsOptions } from "./tls.ts";
import type { TokenSource } from "./token-source.ts";
import { unaryMethod } from "./unary-call.ts";

const service = serviceDefinitions.ClusterAdminService;
const getStatusMethod = unaryMethod(service.getStatus, GetStatusResponse);
const listMembersMethod = unaryMethod(service.listMembers, ListMembersResponse);
const bootstrapMethod = unaryMethod(service.bootstrap, BootstrapResponse);

/** How to reach the administration of one member. */
export interface AdminClientOptions {
  /** Admin or public gRPC endpoint of the member, as `host:port`. */
  readonly endpoint: string;
  /** An admin token (for the admin port), or what makes tokens for the public port. */
  readonly credentials: Credentials | TokenSource;
  /** How to speak TLS; `{}` = with the system's authorities. Undefined = not encrypted. */
  readonly tls?: TlsOptions | undefined;
  /** Deadline of operations that set none, in milliseconds. Default 5,000. */
  readonly timeoutMs?: number | undefined;
  readonly channel?: ChannelOptions | undefined;
  readonly runtime?: Runtime | undefined;
}

/** How one member is, by its own account. */
export type MemberStatus = Omit<Plain<MemberStatusMessage>, "state" | "role"> & {
  /** What its process is doing, such as `RUNNING`; a number in decimal when this client is too old to know it. */
  state: string;
  /** Its part in Raft, such as `LEADER`; a number in decimal when this client is too old to know it. */
  role: string;
};

/** The membership. */
export type Membership = Plain<ListMembersResponse>;

/** Answer of getStatus. */
export interface StatusResult {
  readonly status: MemberStatus;
  /** The membership that the member has applied, which may be old; undefined = none. */
  readonly known: Membership | undefined;
}

/** What to found. */
export interface BootstrapOptions extends CallOptions {
  /** Id of the new cluster: a UUID that the caller has recorded before, so that a repetition cannot found a second one. */
  readonly clusterId: string;
  /** Id of the data directory that may found it, as getStatus answers it. */
  readonly incarnation: string;
  /** The first owner: e-mail, password of 8 to 1,024 bytes, API key `qk_<8 characters>_<43 characters>`. */
  readonly owner: { readonly email: string; readonly password: string; readonly apiKey: string };
}

/** Administers one member. */
export class AdminClient {
  readonly #context: OperationContext;

  constructor(context: OperationContext) {
    this.#context = context;
  }

  /** Tells how this very member is. Local to it, and answered in every state. */
  async getStatus(options: CallOptions = {}): Promise<StatusResult> {
    const { message } = await execute(this.#context, getStatusMethod, {}, options);
    if (message.status === undefined) throw new QuoinError({ code: "INTERNAL", message: "the answer has no status" });
    const status = toPlain(message.status);
    return {
      status: { ...status, state: enumName(MemberState, status.state), role: enumName(MemberRole, status.role) },
      known: message.known === undefined ? undefined : toPlain(message.known),
    };
  }

  /** Lists the members as the leader knows them. */
  async listMembers(options: CallOptions = {}): Promise<Membership> {
    return toPlain((await execute(this.#context, listMembersMethod, {}, options)).message);
  }

  /**
   * Founds a cluster on this member, which must be empty and have the given incarnation. Repeating it is safe.
   *
   * @returns the id of the member in the new cluster.
   * @throws QuoinError FAILED_PRECONDITION / NOT_EMPTY.
   */
  async bootstrap(options: BootstrapOptions): Promise<Plain<BootstrapResponse>> {
    const request = {
      clusterId: textField("cluster_id", options.clusterId),
      incarnation: textField("incarnation", options.incarnation),
      owner: {
        email: textField("owner.email", options.owner.email),
        password: textField("owner.password", options.owner.password),
        apiKey: textField("owner.api_key", options.owner.apiKey),
      },
    };
    return toPlain((await execute(this.#context, bootstrapMethod, request, options)).message);
  }

  /** Closes the connection. */
  close(): void {
    this.#context.pool.close();
  }
}

/**
 * Makes the client of one member's administration.
 *
 * @throws QuoinError INVALID_ARGUMENT / BAD_FIELD for options that cannot be used.
 */
export function createAdminClient(options: AdminClientOptions): AdminClient {
  const { endpoint, credentials, tls, channel = {}, timeoutMs = defaultTimeoutMs, runtime = systemRuntime } = options;
  assertEndpoints("endpoint", [endpoint]);
  assertTls(tls);
  const tokens = "refresh" in credentials ? credentials : createTokenSource(credentials, tls, runtime);
  const pool = new EndpointPool([endpoint], 0, (target) => openChannel(target, tls, channel));
  // Its answers are about this member: another one could not give them.
  return new AdminClient({ pool, tokens, runtime, timeoutMs, followLeader: false });
}
