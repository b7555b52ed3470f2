/**
 * Compares documented answers with real ones. Values that differ from run to run, such as ids, revisions and times,
 * only need the same form, but they must be consistent: a documented id or revision always stands for the same real
 * one, in answers and in later requests. All other values must be equal.
 */

import type { Json, JsonObject } from "./examples/index.ts";

/** Forms of texts that are random, or shortened for readers. Each documented text stands for one real text. */
const OPAQUE: readonly RegExp[] = [
  /…$/,
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(\.[\w-]{43})?$/,
  /^[0-9a-f]{32}$/,
  /^[0-9a-f-]{36}\/snapshots\/[0-9a-f-]+\.qsnap$/,
  /^qk_\w{8}(_\w{43})?$/,
  /^[\w-]{43,}$/,
];
/** Forms of values that say only when or where the example ran. */
const PASSING: readonly RegExp[] = [
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
  /^1[6-9]\d{11}$/,
  /^127\.0\.0\.1:\d+$/,
  /^\/[\w/.-]+$/,
];
/** Numbers that stand for one real number each, by the kind that they count. */
const COUNTED: readonly (readonly [kind: string, names: RegExp])[] = [
  ["revision", /(revision|fencingToken|sessionId)$/i],
  ["entry", /^(id|ids|memberId|leaderId|targetId|configIndex)$/],
  ["term", /^term$/],
];
/** Names of fields with numbers of no meaning for the reader: durations, sizes, positions in the log. */
const MEASURED =
  /^(stateForMs|uptimeMs|expiresInMs|endsInMs|ageMs|refusedGuardsForMs|waitedMs|lagMs|contactAgeMs|dbSizeBytes|diskFreeBytes|commitIndex|index|endIndex|bytes|rows|segmentBytes|requests|kv_operations|kvOperations|lock_operations|memory_operations|bytes_stored|backups\.sizeBytes)$/;
const NUMBER = /^\d+$/;

export class ExampleValues {
  /** Real texts by the documented ones. */
  readonly #texts = new Map<string, string>();
  /** Real numbers by kind and documented number. */
  readonly #numbers = new Map<string, string>();

  /** Sets the real text for a documented one. */
  learn(documented: string, real: string): void {
    this.#texts.set(documented, real);
  }

  /** The request to send: documented values replaced by the real ones. An unknown value stands for itself. */
  request(documented: JsonObject): JsonObject {
    return this.#real(documented, "") as JsonObject;
  }

  /** A text to send or to expect, with real values in place of documented ones. */
  text(documented: string): string {
    const whole = this.#texts.get(documented);
    return whole ?? [...this.#texts].reduce((text, [from, to]) => text.replaceAll(from, to), documented);
  }

  /**
   * Each difference between the documented and the real answer, with its place. Learns the real values.
   *
   * @param isPart whether the real answer may have more fields than the documented one, and longer lists
   */
  differences(documented: Json, real: Json, { isPart = false } = {}): string[] {
    return this.#compare(documented, real, { path: "answer", name: "", parent: "", isPart });
  }

  #real(value: Json, name: string): Json {
    if (typeof value === "string") {
      const kind = kindOf(name);
      if (kind !== null && NUMBER.test(value)) {
        return this.#numbers.get(`${kind} ${value}`) ?? value;
      }
      if (isOneOf(OPAQUE, value) && !this.#texts.has(value)) {
        this.learn(value, value);
      }
      return this.text(value);
    }
    if (Array.isArray(value)) {
      return value.map((item) => this.#real(item, name));
    }
    return isObject(value)
      ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, this.#real(inner, key)]))
      : value;
  }

  #compare(documented: Json | undefined, real: Json | undefined, place: Place): string[] {
    const { path, name, parent, isPart } = place;
    if (MEASURED.test(name) || MEASURED.test(`${parent}.${name}`)) {
      // The JSON form leaves out 0.
      return [documented, real].every((value) => value === undefined || NUMBER.test(String(value)))
        ? []
        : [`${path}: ${JSON.stringify(real)} is not a number`];
    }
    if (isObject(documented) && isObject(real)) {
      const names = new Set([...Object.keys(documented), ...(isPart ? [] : Object.keys(real))]);
      return [...names].flatMap((key) =>
        this.#compare(documented[key], real[key], { path: `${path}.${key}`, name: key, parent: name, isPart }),
      );
    }
    if (Array.isArray(documented) && Array.isArray(real) && hasLength(real, documented.length, isPart)) {
      return documented.flatMap((item, at) => this.#compare(item, real[at], { ...place, path: `${path}[${at}]` }));
    }
    const isSame =
      typeof documented === "string" && typeof real === "string"
        ? this.#isSameText(documented, real, name)
        : JSON.stringify(documented) === JSON.stringify(real);
    return isSame ? [] : [`${path}: documented ${JSON.stringify(documented)}, real ${JSON.stringify(real)}`];
  }

  #isSameText(documented: string, real: string, name: string): boolean {
    const kind = kindOf(name);
    if (kind !== null && NUMBER.test(documented)) {
      return NUMBER.test(real) && isConsistent(this.#numbers, `${kind} ${documented}`, real);
    }
    if (PASSING.some((form) => form.test(documented) && form.test(real))) {
      return true;
    }
    const forms = OPAQUE.filter((form) => form.test(documented));
    if (forms.length > 0 && !this.#texts.has(documented)) {
      const isShortened = documented.endsWith("…");
      if (!isShortened && !forms.some((form) => form.test(real))) {
        return false;
      }
      this.learn(documented, real);
    }
    return this.text(documented) === real;
  }
}

function hasLength(real: readonly Json[], length: number, isPart: boolean): boolean {
  return isPart ? real.length >= length : real.length === length;
}

/** Where a value is in an answer. */
interface Place {
  readonly path: string;
  /** Name of the field, or of the list that contains the value. */
  readonly name: string;
  /** Name of the field around it. */
  readonly parent: string;
  readonly isPart: boolean;
}

function kindOf(name: string): string | null {
  return COUNTED.find(([, names]) => names.test(name))?.[0] ?? null;
}

/** Whether `real` is the value of this key. The first value is always right. */
function isConsistent(known: Map<string, string>, key: string, real: string): boolean {
  const before = known.get(key) ?? real;
  known.set(key, before);
  return before === real;
}

function isOneOf(forms: readonly RegExp[], text: string): boolean {
  return forms.some((form) => form.test(text));
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
