/** AccountService on a server. */

import {
  type ApiKey as ApiKeyMessage,
  type GetUsageResponse,
  type NamespaceUse as NamespaceUseMessage,
  serviceDefinitions,
  type UsageCounts as UsageCountsMessage,
  UsageGranularity,
  type User as UserMessage,
  UserRole,
  UserStatus,
} from "@quoin/proto";
import type { Caller, RateLimiters } from "../../access/index.ts";
import { type ApiKey, COUNTED_QUOTAS, type Role, type User } from "../../state/index.ts";
import { type PortContext, type ServedMethod, serve } from "../calls/index.ts";
import {
  type AccountMethods,
  type DescribedUser,
  mapReply,
  type NamespaceUse,
  type UsageNumbers,
  type UsageReport,
} from "../methods/index.ts";

const ROLES: Readonly<Record<Role, UserRole>> = {
  viewer: UserRole.VIEWER,
  member: UserRole.MEMBER,
  admin: UserRole.ADMIN,
  owner: UserRole.OWNER,
};
const STATUSES: Readonly<Record<User["status"], UserStatus>> = {
  unverified: UserStatus.UNVERIFIED,
  active: UserStatus.ACTIVE,
  disabled: UserStatus.DISABLED,
};

const GRANULARITIES = { day: UsageGranularity.DAY, hour: UsageGranularity.HOUR } as const;

export function accountService(
  port: PortContext<Caller>,
  { tokens, mailedTokens, users, apiKeys, usage }: AccountMethods,
  limiters: Pick<RateLimiters, "tokenRequests" | "loginRequests">,
): readonly ServedMethod[] {
  return serve(port, serviceDefinitions.AccountService, {
    exchangeToken: {
      addressLimiter: limiters.tokenRequests,
      handle: (call, { apiKey, expiresInSeconds }, reply) =>
        tokens.exchangeToken(
          call,
          { apiKey, expiresInSecs: expiresInSeconds === 0n ? null : Number(expiresInSeconds) },
          mapReply(reply, ({ accessToken, expiresInSecs }) => ({
            accessToken,
            expiresInSeconds: BigInt(expiresInSecs),
          })),
        ),
    },
    login: {
      addressLimiter: limiters.loginRequests,
      handle: (call, request, reply) =>
        tokens.login(
          call,
          request,
          mapReply(reply, ({ issued: { accessToken, expiresInSecs }, user }) => ({
            accessToken,
            expiresInSeconds: BigInt(expiresInSecs),
            user: userMessage(user),
          })),
        ),
    },
    verifyEmail: {
      addressLimiter: limiters.loginRequests,
      handle: (call, { token, password = null }, reply) =>
        mailedTokens.verifyEmail(call, { token, password }, mapReply(reply, nothing)),
    },
    requestPasswordReset: {
      addressLimiter: limiters.loginRequests,
      handle: (call, { email }, reply) => mailedTokens.requestPasswordReset(call, email, mapReply(reply, nothing)),
    },
    createUser: (call, { email, password = null, role, namespaces }, reply) =>
      users.createUser(
        call,
        { email, password, role: nameOf(ROLES, role) ?? "", namespaces },
        mapReply(reply, described),
      ),
    getUser: (call, { userId }, reply) => users.getUser(call, userId, mapReply(reply, described)),
    listUsers: (call, request, reply) =>
      users.listUsers(
        call,
        request,
        mapReply(reply, ({ users: page, nextPageToken, revision }) => ({
          users: page.map(userMessage),
          nextPageToken,
          revision: BigInt(revision),
        })),
      ),
    updateUser: (call, { userId, password = null, currentPassword = null, ...request }, reply) =>
      users.updateUser(
        call,
        userId,
        {
          password,
          currentPassword,
          role: request.role === UserRole.USER_ROLE_UNSPECIFIED ? null : (nameOf(ROLES, request.role) ?? ""),
          namespaces: request.namespaces?.names ?? null,
          status:
            request.status === UserStatus.USER_STATUS_UNSPECIFIED ? null : (nameOf(STATUSES, request.status) ?? ""),
        },
        mapReply(reply, described),
      ),
    deleteUser: (call, { userId }, reply) =>
      users.deleteUser(
        call,
        userId,
        mapReply(reply, ({ revision }) => ({ revision: BigInt(revision) })),
      ),
    createApiKey: (call, request, reply) =>
      apiKeys.createKey(
        call,
        request,
        mapReply(reply, ({ apiKey, key, revision }) => ({
          apiKey: apiKeyMessage(apiKey),
          key,
          revision: BigInt(revision),
        })),
      ),
    listApiKeys: (call, request, reply) =>
      apiKeys.listKeys(
        call,
        request,
        mapReply(reply, ({ keys, nextPageToken, revision }) => ({
          keys: keys.map(apiKeyMessage),
          nextPageToken,
          revision: BigInt(revision),
        })),
      ),
    revokeApiKey: (call, { apiKeyId }, reply) =>
      apiKeys.revokeKey(
        call,
        apiKeyId,
        mapReply(reply, ({ revokedAtMs, revision }) => ({
          revokedAtMs: BigInt(revokedAtMs),
          revision: BigInt(revision),
        })),
      ),
    getUsage: (call, { fromMs, toMs, granularity }, reply) =>
      usage.getUsage(
        call,
        {
          fromMs: fromMs === 0n ? null : Number(fromMs),
          toMs: toMs === 0n ? null : Number(toMs),
          granularity: nameOf(GRANULARITIES, granularity) ?? "",
        },
        mapReply(reply, usageMessage),
      ),
  });
}

/** The name with this number; undefined if none has it. */
function nameOf<Name extends string>(numbers: Readonly<Record<Name, number>>, number: number): Name | undefined {
  return Object.entries<number>(numbers).find(([, one]) => one === number)?.[0] as Name | undefined;
}

/** The answer of a method that has nothing to say. */
function nothing() {
  return {};
}

function described({ user, revision }: DescribedUser) {
  return { user: userMessage(user), revision: BigInt(revision) };
}

function userMessage({ userId, email, role, namespaces, status, createdAtMs }: User): UserMessage {
  return {
    userId,
    email,
    role: ROLES[role],
    namespaces: [...namespaces],
    status: STATUSES[status],
    createdAtMs: BigInt(createdAtMs),
  };
}

function apiKeyMessage(apiKey: ApiKey): ApiKeyMessage {
  return {
    apiKeyId: apiKey.apiKeyId,
    name: apiKey.name,
    keyPrefix: apiKey.prefix,
    userId: apiKey.userId,
    createdAtMs: BigInt(apiKey.createdAtMs),
    expiresAtMs: BigInt(apiKey.expiresAtMs),
    lastUsedAtMs: BigInt(apiKey.lastUsedAtMs),
    revokedAtMs: BigInt(apiKey.revokedAtMs),
  };
}

function usageMessage(report: UsageReport): GetUsageResponse {
  return {
    startMs: BigInt(report.startMs),
    endMs: BigInt(report.endMs),
    totals: countsMessage(report.totals),
    buckets: report.buckets.map((bucket) => ({ startMs: BigInt(bucket.startMs), counts: countsMessage(bucket) })),
    apiKeys: report.byKey.map(({ apiKeyId, requests, eventsAppended, bytesAppended }) => ({
      apiKeyId,
      requests: BigInt(requests),
      eventsAppended: BigInt(eventsAppended),
      bytesAppended: BigInt(bytesAppended),
    })),
    namespaces: report.namespaces.map(namespaceMessage),
    requestsPerMinute: BigInt(report.requestsPerMinute),
    asOfMs: BigInt(report.asOfMs),
    revision: BigInt(report.revision),
  };
}

function countsMessage({ levels, ...counts }: UsageNumbers): UsageCountsMessage {
  return {
    requests: BigInt(counts.requests),
    appendRequests: BigInt(counts.appendRequests),
    eventsAppended: BigInt(counts.eventsAppended),
    bytesAppended: BigInt(counts.bytesAppended),
    bytesStored: levels === null ? undefined : BigInt(levels.bytesStored),
    kvOperations: BigInt(counts.kvOperations),
    lockOperations: BigInt(counts.lockOperations),
    memoryOperations: BigInt(counts.memoryOperations),
    memoryBytes: levels === null ? undefined : BigInt(levels.memoryBytes),
  };
}

function namespaceMessage({ namespace, usage, limits }: NamespaceUse): NamespaceUseMessage {
  const quotas = COUNTED_QUOTAS.map((name) => ({ name, used: BigInt(usage[name]), limit: BigInt(limits[name]) }));
  return { namespace, quotas };
}
