/**
 * Settings of the cluster: replicated, so that every member goes by the same ones, and changed while it runs.
 *
 * Only what was set is stored; everything else has its default. `settingsRevision` counts the changes, so that whoever
 * manages the settings can tell whether somebody else has changed them.
 */

import { invariant } from "../raft/index.ts";
import type { PutSettings } from "./account-commands.ts";
import type { ApplyContext } from "./apply-context.ts";
import { CoordinationError } from "./coordination-error.ts";
import type { HistoryLimits } from "./limits.ts";
import { RecordReader, RecordWriter } from "./record.ts";
import { SETTINGS_ROW } from "./rows.ts";
import type { StateReader } from "./store.ts";

/** Requests that a principal may make, as a token bucket. */
export interface RateLimitSettings {
  /** Per window; 0 = as many as there come. */
  readonly requests: number;
  readonly windowSecs: number;
  /** Beyond them at once. */
  readonly burst: number;
}

export interface Settings {
  /** Counts the changes; 0 = nothing was ever set. */
  readonly revision: number;
  /** What was set, by name. */
  readonly values: ReadonlyMap<SettingName, number>;
}

export interface PutSettingsResult {
  readonly kind: "put-settings";
  readonly settingsRevision: number;
  readonly revision: number;
}

interface Rule {
  readonly min: number;
  readonly max: number;
  /** Undefined where each member has one of its own. */
  readonly whenUnset: number | undefined;
}

const WEEK_SECS = 604_800;
const DAY_SECS = 86_400;
const HOUR_SECS = 3_600;
const REQUESTS_MAX = 1_000_000_000;

/** Every setting there is: whole numbers within bounds. */
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
} as const satisfies Record<string, Rule>;

export type SettingName = keyof typeof RULES;
/** Those whose default is the same on every member. */
type DefaultedName = Exclude<SettingName, `history.${string}` | `ratelimit.${string}`>;

const NOTHING_SET: Settings = { revision: 0, values: new Map() };
const MS_PER_SECOND = 1000;
/** Characters of an unknown name that a refusal repeats. */
const NAME_SHOWN_MAX = 64;
const NUMBER = /^(?:0|[1-9][0-9]{0,15})$/;

/** What was set. */
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

/** The value in force of one setting. */
export function settingOf(reader: StateReader, name: DefaultedName): number {
  return readSettings(reader).values.get(name) ?? RULES[name].whenUnset;
}

/** What a principal may ask for by this transport: what was set, and for the rest what is given. */
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

/** How much of the history is kept: what was set, and for the rest what is given. */
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

/**
 * Changes all of the settings that are named, or none. What changes nothing leaves the revision as it is. Raises
 * SETTINGS_CHANGED, and BAD_FIELD with the name of a setting that is unknown or cannot have the value.
 */
export function applyPutSettings(context: ApplyContext, command: PutSettings): PutSettingsResult {
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
  for (const { name, value } of command.values) {
    if (!isSettingName(name)) {
      throw badSetting(name, `is unknown; there are ${Object.keys(RULES).join(", ")}`);
    }
    if (value === "") {
      values.delete(name);
    } else {
      values.set(name, numberOf(name, value));
    }
  }
  const isSame = values.size === before.values.size && [...values].every(([name, v]) => before.values.get(name) === v);
  if (isSame) {
    return { kind: "put-settings", settingsRevision: before.revision, revision: context.revision };
  }
  const settingsRevision = before.revision + 1;
  const writer = new RecordWriter().uint53(settingsRevision).uint32(values.size);
  for (const name of [...values.keys()].sort()) {
    writer.text(name).uint53(values.get(name) as number);
  }
  transaction.put(SETTINGS_ROW, writer.finish());
  return { kind: "put-settings", settingsRevision, revision: context.revision };
}

function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(RULES, name);
}

function numberOf(name: SettingName, text: string): number {
  const { min, max } = RULES[name];
  const value = NUMBER.test(text) ? Number(text) : Number.NaN;
  if (!(value >= min && value <= max)) {
    throw badSetting(name, `must be a whole number from ${min} to ${max}, or empty for its default`);
  }
  return value;
}

/** The name comes from the caller, so a long one is not repeated whole. */
function badSetting(name: string, problem: string): CoordinationError {
  const shown = name.slice(0, NAME_SHOWN_MAX);
  return new CoordinationError("BAD_FIELD", `setting "${shown}" ${problem}`, {
    details: new Map([["field", `values[${shown}]`]]),
  });
}
