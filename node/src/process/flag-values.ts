/** Parsers for the values of a member's flags. For commander: a wrong value raises InvalidArgumentError. */

import { isIP } from "node:net";
import { BackupError, isObjectId, parseLocation, type RetentionPolicy, type StoreLocation } from "@quoin/backup";
import { InvalidArgumentError } from "commander";
import { DEFAULT_RATE_LIMITS, type RateLimit, type RateLimits, requireEmail } from "../access/index.ts";
import { type ClientLimits, DEFAULT_CLIENT_LIMITS } from "../api/connections/index.ts";
import { problemOfOrigin, TrustedProxies } from "../api/http/index.ts";
import { parseCount, parseMilliseconds, requireRule } from "../command-line/index.ts";
import { EVERY_ADDRESS } from "../peers/index.ts";
import { revisionJumpObjection } from "../state/index.ts";
import { isClusterId } from "../storage/index.ts";

/**
 * Where to listen: an address of this machine, or `*` for all IPv6 and IPv4 addresses, and a port, 0 = any free one.
 */
export interface Listen {
  readonly host: string;
  readonly port: number;
}

/** Names of certificates, not addresses: the name identifies a member. */
const JOIN_NAME = /^(\*\.)?[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/i;
const NAME = /^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$/;
const PORT_MAX = 65_535;
/** The limits by their names in flags, such as `open-requests`. */
const RATE_LIMIT_NAMES = namesOf(DEFAULT_RATE_LIMITS);
const CLIENT_LIMIT_NAMES = namesOf(DEFAULT_CLIENT_LIMITS);
const MEBIBYTE = 1024 * 1024;
/** A longer time would not fit into the grace period of a Kubernetes pod. */
export const LINGER_MS_MAX = 10_000;
const UNIT_MS: ReadonlyMap<string, number> = new Map([
  ["s", 1_000],
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", 86_400_000],
]);
/** A snapshot reads the whole state. More often than this, it would never end. */
const INTERVAL_MS_MIN = 10_000;

/** The name of a member, a cluster or a namespace. */
export function parseName(text: string): string {
  requireRule(NAME.test(text), "It must be 1 to 63 lower-case letters, digits, `-` or `.`, as in a DNS name.");
  return text;
}

/** An address that others can dial. */
export function parseAddress(text: string): string {
  const { host, port } = parseListen(text);
  requireRule(port !== 0, "Other members and clients cannot dial port 0.");
  requireRule(host !== EVERY_ADDRESS, "Other members and clients cannot dial *: use one address, or a name.");
  return text;
}

export function parseIpAddress(text: string): string {
  requireRule(isIP(text) !== 0, "It must be an IP address.");
  return text;
}

export function parseEmail(text: string): string {
  try {
    requireEmail(text, "It");
  } catch (error) {
    throw new InvalidArgumentError(`${(error as Error).message}.`);
  }
  return text;
}

export function parseNetworks(text: string): readonly string[] {
  const networks = text.trim() === "" ? [] : text.split(",").map((network) => network.trim());
  try {
    new TrustedProxies(networks);
  } catch (error) {
    throw new InvalidArgumentError(`${(error as Error).message}.`);
  }
  return networks;
}

export function parseOrigins(text: string): readonly string[] {
  const origins = text.trim() === "" ? [] : text.split(",").map((origin) => origin.trim());
  const problem = origins.map(problemOfOrigin).find((each) => each !== null);
  requireRule(problem === undefined, `${problem}.`);
  return origins;
}

/** A parser of a size in MiB within these bounds; the value is in bytes. */
export function parseMebibytes({ min, max }: { readonly min: number; readonly max: number }): (text: string) => number {
  return (text) => {
    const size = Number(text);
    const isWithin = /^[0-9]{1,5}$/.test(text) && size >= min && size <= max;
    requireRule(isWithin, `It must be a whole number of MiB, ${min} to ${max}.`);
    return size * MEBIBYTE;
  };
}

export function parseLinger(text: string): number {
  const lingerMs = parseMilliseconds(text);
  requireRule(lingerMs <= LINGER_MS_MAX, `It must be at most ${LINGER_MS_MAX}.`);
  return lingerMs;
}

/** The limits as `collectRateLimit` and `collectClientLimit` take them. */
export function limitsText(limits: RateLimits | ClientLimits): string {
  const texts = Object.entries(limits).map(([key, parts]) => `${nameOf(key)}=${Object.values(parts).join("/")}`);
  return texts.join(" ");
}

function namesOf<Limits extends object>(limits: Limits): ReadonlyMap<string, keyof Limits> {
  return new Map(Object.keys(limits).map((key) => [nameOf(key), key as keyof Limits]));
}

function nameOf(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

export function collectSeed(text: string, seeds: readonly string[]): readonly string[] {
  return [...seeds, parseAddress(text)];
}

/** Omitted seconds are those of the default; an omitted burst is the default's share of the requests. */
export function collectRateLimit(text: string, limits: RateLimits): RateLimits {
  const match = /^([a-z-]+)=([0-9]{1,9})(?:\/([0-9]{1,5}))?(?:\/([0-9]{1,9}))?$/.exec(text);
  const name = RATE_LIMIT_NAMES.get(match?.[1] ?? "");
  const [requests, seconds, burst] = [match?.[2], match?.[3], match?.[4]];
  requireRule(
    name !== undefined && Number(seconds ?? 1) > 0 && Number(burst ?? 1) > 0,
    `It must be NAME=REQUESTS[/SECONDS[/BURST]], with a NAME of ${[...RATE_LIMIT_NAMES.keys()].join(", ")}.`,
  );
  const usual = DEFAULT_RATE_LIMITS[name];
  const limit: RateLimit = {
    requests: Number(requests),
    windowSecs: Number(seconds ?? usual.windowSecs),
    burst: Number(burst ?? Math.max(1, Math.ceil((Number(requests) * usual.burst) / usual.requests))),
  };
  return { ...limits, [name]: limit };
}

/** An omitted scope is that of the default, but at most the limit of the wider scope. */
export function collectClientLimit(text: string, limits: ClientLimits): ClientLimits {
  const match = /^([a-z-]+)=([0-9]{1,12})(?:\/([0-9]{1,12}))?(?:\/([0-9]{1,12}))?$/.exec(text);
  const name = CLIENT_LIMIT_NAMES.get(match?.[1] ?? "");
  const given = (match ?? []).slice(2).filter((part) => part !== undefined);
  const usual: Readonly<Record<string, number>> = name === undefined ? {} : { ...limits[name] };
  requireRule(
    name !== undefined && given.every((part) => Number(part) > 0) && given.length <= Object.keys(usual).length,
    `It must be NAME=MEMBER[/ADDRESS[/USER]], each at least 1, with a NAME of ${[...CLIENT_LIMIT_NAMES.keys()].join(", ")}.`,
  );
  const member = Number(given[0]);
  const scopes = Object.entries(usual).map(([scope, value], index) => [
    scope,
    given[index] === undefined ? Math.min(value, member) : Number(given[index]),
  ]);
  return { ...limits, [name]: Object.fromEntries(scopes) };
}

export function parseJoinName(text: string): string {
  requireRule(JOIN_NAME.test(text), 'It must be a DNS name, which may begin with "*.".');
  return text;
}

export function parseListen(text: string): Listen {
  const match = /^(?:\[([0-9a-fA-F:]+)\]|([^:\s]+)):([0-9]{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  requireRule(
    match !== null && port <= PORT_MAX,
    "It must be host:port, with a port of 0 to 65535; an IPv6 address is in brackets.",
  );
  return { host: match[1] ?? match[2] ?? "", port };
}

export function parseStore(text: string): StoreLocation {
  try {
    return parseLocation(text);
  } catch (error) {
    if (error instanceof BackupError) {
      throw new InvalidArgumentError(`${error.message}.`);
    }
    throw error;
  }
}

export function parseInterval(text: string): number {
  const intervalMs = durationMs(text);
  requireRule(
    intervalMs !== undefined && intervalMs >= INTERVAL_MS_MIN,
    "It must be a whole number of s, m, h or d, such as 24h, and at least 10s.",
  );
  return intervalMs;
}

export function parseRetention(text: string): RetentionPolicy {
  let policy: RetentionPolicy = {};
  for (const rule of text.split(",").map((part) => part.trim())) {
    const keepMs = durationMs(rule);
    if (keepMs !== undefined && policy.keepMs === undefined) {
      policy = { ...policy, keepMs };
    } else if (/^[1-9][0-9]{0,5}$/.test(rule) && policy.keepSnapshots === undefined) {
      policy = { ...policy, keepSnapshots: Number(rule) };
    } else {
      throw new InvalidArgumentError("It must be an age such as 7d, a number of snapshots such as 3, or both: 7d,3.");
    }
  }
  return policy;
}

/** @returns undefined if the text is not a duration */
function durationMs(text: string): number | undefined {
  const match = /^([1-9][0-9]{0,8})([smhd])$/.exec(text);
  const unitMs = UNIT_MS.get(match?.[2] ?? "");
  return unitMs === undefined ? undefined : Number(match?.[1]) * unitMs;
}

export function parseClusterId(text: string): string {
  requireRule(isClusterId(text), "It must be a UUID in lower case.");
  return text;
}

export function parseRevisionJump(text: string): number {
  const jump = parseCount(text);
  const objection = revisionJumpObjection(0, jump);
  requireRule(objection === null, `It ${objection}.`);
  return jump;
}

export function parseSnapshot(text: string): string {
  requireRule(isObjectId(text), "It must be the id of a snapshot, 32 hexadecimal digits in lower case.");
  return text;
}

export function parseUrl(text: string): string {
  const url = URL.parse(text);
  requireRule(
    url !== null && /^https?:$/.test(url.protocol) && url.search === "" && url.hash === "",
    "It must be a URL that begins with http:// or https://, without a query.",
  );
  requireRule(
    url.username === "" && url.password === "",
    "It must not contain a password: use OTEL_EXPORTER_OTLP_HEADERS.",
  );
  return text;
}

export function parseRatio(text: string): number {
  const ratio = ratioOf(text);
  requireRule(ratio !== null, "It must be a number from 0 to 1, such as 0.01.");
  return ratio;
}

/** Null unless the text is a number from 0 to 1. */
export function ratioOf(text: string): number | null {
  const ratio = Number(text);
  return /^[0-9]*\.?[0-9]+$/.test(text) && ratio <= 1 ? ratio : null;
}
