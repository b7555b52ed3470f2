/**
 * Sessions: the SessionService, typed, and handles that renew a session.
 *
 * Applications need `Client.session`; the methods here are single operations. Every method raises a QuoinError; the
 * comments list only the errors of the method itself. All raise NOT_FOUND / NAMESPACE_NOT_FOUND, except renew.
 */

import { type RenewSessionsResponse, serviceDefinitions } from "@quoin/proto";
import {
  type CallOptions,
  consistencyField,
  type Execution,
  execute,
  type OperationContext,
  type Persistence,
  type ReadOptions,
  readRules,
  toPlain,
  unaryMethod,
} from "../calls/index.ts";
import { QuoinError } from "../errors/index.ts";
import { callRules, int32Field, int64Field, optionsCheck, textField } from "../options/index.ts";
import { SessionHandle } from "./session-handle.ts";
import { SessionLife } from "./session-life.ts";
import {
  type CreateSessionOptions,
  type CreateSessionResult,
  creationFields,
  type DescribeSessionResult,
  type EndSessionOptions,
  type EndSessionResult,
  type ListSessionsOptions,
  type RenewedSession,
  type SessionPage,
  sessionRules,
  sessionTarget,
} from "./session-messages.ts";
import { SessionRenewer } from "./session-renewer.ts";

const service = serviceDefinitions.SessionService;
const createMethod = unaryMethod(service.createSession);
const renewMethod = unaryMethod(service.renewSessions);
const endMethod = unaryMethod(service.endSession);
const describeMethod = unaryMethod(service.describeSession);
const listMethod = unaryMethod(service.listSessions);

const checkCreate = optionsCheck<CreateSessionOptions>(sessionRules.create);
const checkRenew = optionsCheck<CallOptions>(callRules);
const checkEnd = optionsCheck<EndSessionOptions>(sessionRules.end);
const checkDescribe = optionsCheck<ReadOptions>(readRules);
const checkList = optionsCheck<ListSessionsOptions>(sessionRules.list);

/** Creates, renews, ends and shows sessions. */
export class SessionClient {
  readonly #context: OperationContext;
  /** What renews the sessions of each namespace. */
  readonly #renewers = new Map<string, SessionRenewer>();

  constructor(context: OperationContext) {
    this.#context = context;
  }

  /**
   * Creates a session, which ends by itself without renewal.
   *
   * @throws QuoinError RESOURCE_EXHAUSTED / QUOTA.
   */
  async create(namespace: string, options: CreateSessionOptions = {}): Promise<CreateSessionResult> {
    checkCreate(options, "sessions.create");
    return toPlain((await this.#create(namespace, options)).message);
  }

  /**
   * Renews 1 to 500 sessions: each lives for its whole time to live from now. A session that has ended, or belongs to
   * another user, is no error: its `expiresInMs` is 0.
   */
  async renew(
    namespace: string,
    sessionIds: readonly number[],
    options: CallOptions = {},
  ): Promise<readonly RenewedSession[]> {
    checkRenew(options, "sessions.renew");
    return toPlain((await this.#renew(namespace, sessionIds, options)).message).sessions;
  }

  /**
   * Ends a session with everything that belongs to it, at one revision.
   *
   * @throws QuoinError NOT_FOUND / SESSION_NOT_FOUND; PERMISSION_DENIED / ACCESS_DENIED for a session of another user.
   */
  async end(namespace: string, sessionId: number, options: EndSessionOptions = {}): Promise<EndSessionResult> {
    checkEnd(options, "sessions.end");
    const request = { ...sessionTarget(namespace, sessionId), force: options.force ?? false };
    return toPlain((await execute(this.#context, endMethod, request, options)).message);
  }

  /**
   * Reads a session and its keys.
   *
   * @throws QuoinError NOT_FOUND / SESSION_NOT_FOUND.
   */
  async describe(namespace: string, sessionId: number, options: ReadOptions = {}): Promise<DescribeSessionResult> {
    checkDescribe(options, "sessions.describe");
    const request = { ...sessionTarget(namespace, sessionId), consistency: consistencyField(options.consistency) };
    const { session, ...rest } = toPlain((await execute(this.#context, describeMethod, request, options)).message);
    if (session === undefined) {
      throw new QuoinError({ code: "INTERNAL", message: "the answer describes no session" });
    }
    return { ...session, ...rest };
  }

  /**
   * Reads one page of the sessions of a namespace.
   *
   * @throws QuoinError INVALID_ARGUMENT / BAD_FIELD for a token of another listing.
   */
  async list(namespace: string, options: ListSessionsOptions = {}): Promise<SessionPage> {
    checkList(options, "sessions.list");
    const request = {
      namespace: textField("namespace", namespace),
      pageSize: int32Field("pageSize", options.pageSize ?? 0),
      pageToken: textField("pageToken", options.pageToken ?? ""),
      consistency: consistencyField(options.consistency),
    };
    return toPlain((await execute(this.#context, listMethod, request, options)).message);
  }

  /** Creates a session and renews it; see `Client.session`. */
  async keep(namespace: string, options: CreateSessionOptions): Promise<SessionHandle> {
    checkCreate(options, "session");
    const { message, attemptStartMs } = await this.#create(namespace, options);
    const id = Number(message.sessionId);
    const life = new SessionLife(this.#context.runtime, namespace, id, attemptStartMs + Number(message.expiresInMs));
    this.#renewerOf(namespace).add(life);
    return new SessionHandle(life, (call) => this.end(namespace, id, call));
  }

  #renewerOf(namespace: string): SessionRenewer {
    const known = this.#renewers.get(namespace);
    if (known !== undefined) {
      return known;
    }
    const renewer = new SessionRenewer(this.#context.runtime, async (sessionIds, call, persistence) => {
      const { message, attemptStartMs } = await this.#renew(namespace, sessionIds, call, persistence);
      return { sessions: toPlain(message).sessions, attemptStartMs };
    });
    this.#renewers.set(namespace, renewer);
    return renewer;
  }

  #create(namespace: string, options: CreateSessionOptions) {
    return execute(this.#context, createMethod, creationFields(namespace, options), options);
  }

  #renew(
    namespace: string,
    sessionIds: readonly number[],
    options: CallOptions,
    persistence?: Persistence,
  ): Promise<Execution<RenewSessionsResponse>> {
    const sessions = sessionIds.map((id, at) => ({ sessionId: int64Field(`sessionIds[${at}]`, id) }));
    const request = { namespace: textField("namespace", namespace), sessions };
    return execute(this.#context, renewMethod, request, options, persistence);
  }
}
