/**
 * Settings of the cluster: replicated, so that every member uses the same ones, and changeable at run time.
 *
 * Only values that were set are stored; all others have their defaults. `settingsRevision` counts the changes, so that
 * a client that manages the settings can detect changes by others.
 */

import { invariant } from "../../primitives/index.ts";
import type { ApplyContext } from "./apply-context.ts";
import { hasRulesOf, VERSION_WITH_SESSIONS } from "./cluster.ts";
import { CoordinationError } from "./coordination-error.ts";
import { count, listOf, recordOf, text } from "./fields.ts";
import type { HistoryLimits, StateLimits } from "./limits.ts";
import { NAMESPACE_PATTERN } from "./namespaces.ts";
import { clusterOperation } from "./operation.ts";
import { optionalRequest, type RequestIdentity } from "./principal.ts";
import {
  API_KEYS_PER_USER_MAX,
  isNamespaceQuota,
  NAMESPACE_QUOTAS,
  type NamespaceLimits,
  type NamespaceOverrides,
  type NamespaceQuota,
  QUOTA_MAX,
  readAllOverrides,
  readOverrides,
  requireOverrideCapacity,
  unsetLimits,
  writeOverrides,
} from "./quotas.ts";
import { RecordReader, RecordWriter } from "./record.ts";

import { SETTINGS_ROW } from "./rows.ts";
import type { StateReader } from "./store.ts";

declare module "./results.ts" {
  interface StoredResults {
    readonly "put-settings": PutSettingsResult;
  }
}

export interface PutSettingsResult {
  readonly kind: "put-settings";
  readonly settingsRevision: number;
  readonly revision: number;
}

/** Changes settings; an empty value resets a setting to its default. */
export interface PutSettings {
  readonly kind: "put-settings";
  readonly values: readonly { readonly name: string; readonly value: string }[];
  /** The revision that the settings must have; 0 = any. */
  readonly ifRevision: number;
  /** The caller, under whom the answer is stored. */
  readonly subject: string;
  /** Identifies retries; null for a call without a request id. */
  readonly request: RequestIdentity | null;
}

/** Requests that a principal may make, as a token bucket. */
export interface RateLimitSettings {
  /** Per window; 0 = no limit. */
  readonly requests: number;
  readonly windowSecs: number;
  /** Requests beyond that at once. */
  readonly burst: number;
}

export interface Settings {
  /** Counts the changes; 0 = never changed. */
  readonly revision: number;
  /** The values that were set, by name. */
  readonly values: ReadonlyMap<SettingName, number>;
}

interface Rule {
  readonly min: number;
  readonly max: number;
  /** Undefined if the default is a limit of each member or of the release. */
  readonly whenUnset: number | undefined;
}

const WEEK_SECS = 604_800;
const DAY_SECS = 86_400;
const HOUR_SECS = 3_600;
const REQUESTS_MAX = 1_000_000_000;
const QUOTA = { min: 0, max: QUOTA_MAX, whenUnset: undefined };

/** All settings: whole numbers within bounds. */
const RULES = {
  "queue.duplicate_window_secs": { min: 0, max: WEEK_SECS, whenUnset: HOUR_SECS },
  "token.lifetime_secs": { min: 1, max: DAY_SECS, whenUnset: HOUR_SECS },
  "ratelimit.http.requests": { min: 0, max: REQUESTS_MAX, whenUnset: undefined },
  "ratelimit.http.window_secs": { min: 1, max: HOUR_SECS, whenUnset: undefined },
  "ratelimit.http.burst": { min: 1, max: REQUESTS_MAX, whenUnset: undefined },
  "ratelimit.grpc.requests": { min: 0, max: REQUESTS_MAX, whenUnset: undefined },
  "ratelimit.grpc.window_secs": { min: 1, max: HOUR_SECS, whenUnset: undefined },
  "ratelimit.grpc.burst": { min: 1, max: REQUESTS_MAX, whenUnset: undefined },
  "history.revisions": { min: 1_000, max: 100_000_000, whenUnset: undefined },
  "history.age_secs": { min: 60, max: WEEK_SECS, whenUnset: undefined },
  "history.bytes": { min: 1024 * 1024, max: 1024 * 1024 * 1024 * 1024, whenUnset: undefined },
  "quota.namespace.bytes": QUOTA,
  "quota.namespace.keys": QUOTA,
  "quota.namespace.locks": QUOTA,
  "quota.namespace.memory_bytes": QUOTA,
  "quota.namespace.memory_regions": QUOTA,
  "quota.namespace.event_bytes": QUOTA,
  "quota.namespace.event_logs": QUOTA,
  "quota.namespace.watches": QUOTA,
  "quota.namespace.sessions": QUOTA,
  // One entry processes all keys of a user, so there cannot be more.
  "quota.user.api_keys": { min: 0, max: API_KEYS_PER_USER_MAX, whenUnset: undefined },
} as const satisfies Record<`quota.namespace.${NamespaceQuota}`, Rule> & Record<string, Rule>;

export type SettingName = keyof typeof RULES;
/** The settings whose default is in this file. */
type DefaultedName = Exclude<SettingName, `history.${string}` | `ratelimit.${string}` | `quota.${string}`>;

/** Names of limits for single namespaces. The last part is the quota, because namespaces may contain dots. */
const OVERRIDE = /^quota\.namespace\.(.+)\.([^.]+)$/;

/** Former versions of the cluster do not have these settings. */
const SESSIONS_QUOTA = /^quota\.namespace\.(.+\.)?sessions$/;

const NOTHING_SET: Settings = { revision: 0, values: new Map() };
const MS_PER_SECOND = 1000;
/** How many characters of an unknown name a refusal repeats. */
const NAME_SHOWN_MAX = 64;
const NUMBER = /^(?:0|[1-9][0-9]{0,15})$/;

/** The values that were set. */
export function readSettings(reader: StateReader): Settings {
  const bytes = reader.get(SETTINGS_ROW);
  if (bytes === undefined) {
    return NOTHING_SET;
  }
  const fields = new RecordReader(bytes);
  const revision = fields.uint53();
  const values = new Map<SettingName, number>();
  for (let left = fields.uint32(); left > 0; left--) {
    const name = fields.text();
    invariant(isSettingName(name), "stored settings have a known name", () => name);
    values.set(name, fields.uint53());
  }
  fields.end();
  return { revision, values };
}

/** A setting as administrators see it. */
export interface DescribedSetting {
  readonly name: string;
  /** Null = it is not set. */
  readonly value: number | null;
  /** Its value while it is not set; null = that depends on the flags of each member. */
  readonly whenUnset: number | null;
  readonly min: number;
  readonly max: number;
}

/** All settings, ordered by name, and then the limits that are set for single namespaces. */
export function describeSettings(reader: StateReader, limits: StateLimits): DescribedSetting[] {
  const { values } = readSettings(reader);
  const releaseDefaults = defaultsOf(limits);
  const names = (Object.keys(RULES) as SettingName[]).sort();
  const ofCluster = names.map((name): DescribedSetting => {
    const { min, max, whenUnset } = RULES[name];
    return {
      name,
      value: values.get(name) ?? null,
      min,
      max,
      whenUnset: whenUnset ?? releaseDefaults.get(name) ?? null,
    };
  });
  const ofNamespaces = readAllOverrides(reader).flatMap(([namespace, overrides]) =>
    Array.from(overrides, ([quota, value]): DescribedSetting => {
      const ofAll = `quota.namespace.${quota}` as const;
      const whenUnset = values.get(ofAll) ?? releaseDefaults.get(ofAll) ?? null;
      const { min, max } = QUOTA;
      return { name: `quota.namespace.${namespace}.${quota}`, value, min, max, whenUnset };
    }),
  );
  return [...ofCluster, ...ofNamespaces];
}

/** The defaults that are limits of the release. */
function defaultsOf(limits: StateLimits): ReadonlyMap<SettingName, number> {
  const { revisionsMax, ageMsMax, bytesMax } = limits.history;
  const quotas = unsetLimits(limits);
  return new Map<SettingName, number>([
    ["history.revisions", revisionsMax],
    ["history.age_secs", ageMsMax / MS_PER_SECOND],
    ["history.bytes", bytesMax],
    ["quota.user.api_keys", limits.userApiKeysMax],
    ...NAMESPACE_QUOTAS.map((quota) => [`quota.namespace.${quota}`, quotas[quota]] as const),
  ]);
}

/** The effective value of one setting. */
export function settingOf(reader: StateReader, name: DefaultedName): number {
  return readSettings(reader).values.get(name) ?? RULES[name].whenUnset;
}

/** The request rate for a principal by this transport: set values, and `unset` for the others. */
export function rateLimitOf(
  reader: StateReader,
  transport: "http" | "grpc",
  unset: RateLimitSettings,
): RateLimitSettings {
  const { values } = readSettings(reader);
  return {
    requests: values.get(`ratelimit.${transport}.requests`) ?? unset.requests,
    windowSecs: values.get(`ratelimit.${transport}.window_secs`) ?? unset.windowSecs,
    burst: values.get(`ratelimit.${transport}.burst`) ?? unset.burst,
  };
}

/** How much of the history to keep: set values, and `unset` for the others. */
export function historyLimitsOf(reader: StateReader, unset: HistoryLimits): HistoryLimits {
  const { values } = readSettings(reader);
  if (values.size === 0) {
    return unset;
  }
  const ageSecs = values.get("history.age_secs");
  return {
    revisionsMax: values.get("history.revisions") ?? unset.revisionsMax,
    ageMsMax: ageSecs === undefined ? unset.ageMsMax : ageSecs * MS_PER_SECOND,
    bytesMax: values.get("history.bytes") ?? unset.bytesMax,
  };
}

/** The limits of a namespace: set for it, else set for all namespaces, else `unset`. */
export function namespaceLimitsOf(reader: StateReader, namespace: string, unset: NamespaceLimits): NamespaceLimits {
  const { values } = readSettings(reader);
  const overrides = readOverrides(reader, namespace);
  const limitOf = (quota: NamespaceQuota): number => limitWith(quota, overrides, values) ?? unset[quota];
  return {
    bytes: limitOf("bytes"),
    keys: limitOf("keys"),
    locks: limitOf("locks"),
    memory_bytes: limitOf("memory_bytes"),
    memory_regions: limitOf("memory_regions"),
    event_bytes: limitOf("event_bytes"),
    event_logs: limitOf("event_logs"),
    watches: limitOf("watches"),
    sessions: limitOf("sessions"),
  };
}

/** Watches of a namespace at one member: the set value, else `unset`. */
export function namespaceWatchesMaxOf(reader: StateReader, namespace: string, unset: number): number {
  return limitWith("watches", readOverrides(reader, namespace), readSettings(reader).values) ?? unset;
}

/** How many API keys a user may have: the set value, else `unset`. */
export function userApiKeysMaxOf(reader: StateReader, unset: number): number {
  return readSettings(reader).values.get("quota.user.api_keys") ?? unset;
}

export const putSettingsOperation = clusterOperation<PutSettings, PutSettingsResult>({
  kind: "put-settings",
  number: 67,
  fields: {
    values: listOf(recordOf({ name: text, value: text })),
    ifRevision: count,
    subject: text,
    request: optionalRequest,
  },
  answer: { number: 60, fields: { settingsRevision: count } },
  apply: applyPutSettings,
});

/**
 * Changes all named settings or none. A command without an effect does not change the revision. Raises
 * SETTINGS_CHANGED; BAD_FIELD with the name of a setting that is unknown or cannot have the value; and QUOTA if there
 * would be too many limits of single namespaces.
 */
function applyPutSettings(context: ApplyContext, command: PutSettings): PutSettingsResult {
  const { transaction } = context;
  const before = readSettings(transaction);
  if (command.ifRevision !== 0 && command.ifRevision !== before.revision) {
    throw new CoordinationError(
      "SETTINGS_CHANGED",
      `the settings have revision ${before.revision}, not ${command.ifRevision}`,
      { details: new Map([["settings_revision", String(before.revision)]]) },
    );
  }
  const values = new Map(before.values);
  const overrides = new Map<string, Map<NamespaceQuota, number>>();
  const names = namesAt(transaction);
  for (const { name, value } of command.values) {
    if (SESSIONS_QUOTA.test(name) && !names.includes("quota.namespace.sessions")) {
      throw unknownSetting(name, names);
    }
    const override = isSettingName(name) ? null : overrideNamed(name);
    if (override !== null) {
      const { namespace, quota } = override;
      const limits = overrides.get(namespace) ?? new Map(readOverrides(transaction, namespace));
      overrides.set(namespace, limits);
      setOrUnset(limits, quota, value === "" ? null : numberOf(name, QUOTA, value));
    } else if (isSettingName(name)) {
      setOrUnset(values, name, value === "" ? null : numberOf(name, RULES[name], value));
    } else {
      throw unknownSetting(name, names);
    }
  }
  const changed = [...overrides].filter(([name, limits]) => !isSame(limits, readOverrides(transaction, name)));
  const added = changed.reduce((sum, [name, limits]) => sum + limits.size - readOverrides(transaction, name).size, 0);
  requireOverrideCapacity(transaction, added);
  if (changed.length === 0 && isSame(values, before.values)) {
    return { kind: "put-settings", settingsRevision: before.revision, revision: context.revision };
  }
  const settingsRevision = before.revision + 1;
  change(context, settingsRevision, values, changed);
  return { kind: "put-settings", settingsRevision, revision: context.revision };
}

/** Unsets the limits of the namespace, which is a change of the settings if it has any. */
export function unsetNamespaceLimits(context: ApplyContext, namespace: string): void {
  const { revision, values } = readSettings(context.transaction);
  if (readOverrides(context.transaction, namespace).size > 0) {
    change(context, revision + 1, values, [[namespace, new Map()]]);
  }
}

function change(
  context: ApplyContext,
  revision: number,
  values: Settings["values"],
  ofNamespaces: readonly (readonly [string, NamespaceOverrides])[],
): void {
  const { transaction } = context;
  const writer = new RecordWriter().uint53(revision).uint32(values.size);
  for (const name of [...values.keys()].sort()) {
    writer.text(name).uint53(values.get(name) as number);
  }
  transaction.put(SETTINGS_ROW, writer.finish());
  for (const [namespace, limits] of ofNamespaces) {
    writeOverrides(transaction, namespace, limits);
  }
  context.accounts.onSettingsChanged();
}

/** The set limit of a namespace, for it or for all. */
function limitWith(
  quota: NamespaceQuota,
  overrides: NamespaceOverrides,
  values: Settings["values"],
): number | undefined {
  return overrides.get(quota) ?? values.get(`quota.namespace.${quota}`);
}

/** The names of all settings, and the form of those for single namespaces. */
export const SETTING_NAMES: readonly string[] = [...Object.keys(RULES), "quota.namespace.NAMESPACE.QUOTA"];

/** Whether a setting may have this name: one of the cluster, or of a single namespace. */
export function isKnownSetting(name: string): boolean {
  return isSettingName(name) || overrideNamed(name) !== null;
}

function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(RULES, name);
}

/** The limit of a single namespace with this name; null if the name has another form. */
function overrideNamed(name: string): { readonly namespace: string; readonly quota: NamespaceQuota } | null {
  const [, namespace = "", quota = ""] = OVERRIDE.exec(name) ?? [];
  return NAMESPACE_PATTERN.test(namespace) && isNamespaceQuota(quota) ? { namespace, quota } : null;
}

function setOrUnset<Name>(values: Map<Name, number>, name: Name, value: number | null): void {
  if (value === null) {
    values.delete(name);
  } else {
    values.set(name, value);
  }
}

function isSame<Name>(values: ReadonlyMap<Name, number>, before: ReadonlyMap<Name, number>): boolean {
  return values.size === before.size && [...values].every(([name, value]) => before.get(name) === value);
}

/** The settings of all namespaces that the version of the cluster has. */
function namesAt(reader: StateReader): readonly string[] {
  const names = Object.keys(RULES);
  return hasRulesOf(VERSION_WITH_SESSIONS, reader) ? names : names.filter((name) => !SESSIONS_QUOTA.test(name));
}

function unknownSetting(name: string, names: readonly string[]): CoordinationError {
  const others = "and for a single namespace quota.namespace.NAMESPACE.QUOTA";
  return badSetting(name, `is unknown; there are ${names.join(", ")}, ${others}`);
}

function numberOf(name: string, { min, max }: Rule, text: string): number {
  const value = NUMBER.test(text) ? Number(text) : Number.NaN;
  if (!(value >= min && value <= max)) {
    throw badSetting(name, `must be a whole number from ${min} to ${max}, or empty for its default`);
  }
  return value;
}

/** The name comes from the caller, so a long one is cut. */
function badSetting(name: string, problem: string): CoordinationError {
  const shown = name.slice(0, NAME_SHOWN_MAX);
  return new CoordinationError("BAD_FIELD", `setting "${shown}" ${problem}`, {
    details: new Map([["field", `values[${shown}]`]]),
  });
}
