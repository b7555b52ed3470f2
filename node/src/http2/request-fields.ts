/**
 * The rules of HTTP/2 for the fields of a request and its trailers (RFC 9113 §8.1 to §8.3). A request that breaks a
 * rule is malformed, and no handler sees it.
 *
 * Most requests of a connection have the same fields in the same order, and differ in few values. So only the
 * differences from the last valid request are checked.
 */

/** Fields about the connection (§8.2.2). */
const CONNECTION_FIELDS: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
]);
const PSEUDO_FIELDS: ReadonlySet<string> = new Set([":method", ":scheme", ":path", ":authority"]);
/** Fields whose values affect the rules for other fields. */
const DECISIVE_FIELDS: ReadonlySet<string> = new Set([
  ...[":method", ":scheme", ":authority"],
  ...["host", "te", "content-length"],
]);

const COLON = ":".charCodeAt(0);
const SPACE = " ".charCodeAt(0);
const TAB = "\t".charCodeAt(0);
const NUL = 0;
const LINE_FEED = "\n".charCodeAt(0);
const CARRIAGE_RETURN = "\r".charCodeAt(0);

/** Whether a character may be in a field name: the characters of a token (RFC 9110 §5.6.2), without capitals. */
const IN_NAMES = new Uint8Array(256);
for (const character of "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz") {
  IN_NAMES[character.charCodeAt(0)] = 1;
}
/** A longer content-length would not be exact. */
const LENGTH_DIGITS_MAX = 15;
/** The value of `declaredBytes` without a content-length. */
export const UNDECLARED = -1;

/** Lists of fields are name, value, name, value, … */
type Fields = readonly string[];

/** How a value may differ from that of the last valid request. */
const FIXED = 0;
const ANY_VALUE = 1;
const ANY_PATH = 2;

export class RequestFields {
  /** The content-length of the last valid request; UNDECLARED if it had none. */
  declaredBytes = UNDECLARED;
  #last: Fields = [];
  /** For each field of the last valid request, how its value may differ. */
  #freedoms: readonly number[] = [];

  /** Whether a request may have these fields. The caller must not change them afterwards. */
  areGood(fields: Fields): boolean {
    if (this.#resembleLast(fields)) {
      return true;
    }
    const declared = declaredBytesOf(fields);
    if (declared === null || !isRequest(fields)) {
      return false;
    }
    this.declaredBytes = declared;
    this.#last = fields;
    this.#freedoms = freedomsOf(fields);
    return true;
  }

  #resembleLast(fields: Fields): boolean {
    const last = this.#last;
    if (fields.length !== last.length) {
      return false;
    }
    for (let at = 0; at < fields.length; at += 2) {
      const value = fields[at + 1] as string;
      if (fields[at] !== last[at] || (value !== last[at + 1] && !isAllowed(value, this.#freedoms[at >> 1] as number))) {
        return false;
      }
    }
    return fields.length > 0;
  }
}

/** Whether a request may end with these fields (§8.1): no pseudo-header fields. */
export function areGoodTrailers(fields: Fields): boolean {
  for (let at = 0; at < fields.length; at += 2) {
    if (!isRegular(fields[at] as string, fields[at + 1] as string)) {
      return false;
    }
  }
  return true;
}

function isAllowed(value: string, freedom: number): boolean {
  return freedom === ANY_VALUE ? isValue(value) : freedom === ANY_PATH && isPseudoValue(value) && isPath(value);
}

function freedomsOf(fields: Fields): readonly number[] {
  const freedoms: number[] = [];
  for (let at = 0; at < fields.length; at += 2) {
    const name = fields[at] as string;
    // The path of OPTIONS may be an asterisk, so a path is checked by itself only if it is an ordinary one.
    const isOrdinaryPath = name === ":path" && isPath(fields[at + 1] as string);
    freedoms.push(isOrdinaryPath ? ANY_PATH : name === ":path" || DECISIVE_FIELDS.has(name) ? FIXED : ANY_VALUE);
  }
  return freedoms;
}

/** Whether the fields are valid for a request, without the check of content-length. */
function isRequest(fields: Fields): boolean {
  let at = 0;
  const pseudo = new Map<string, string>();
  for (; at < fields.length && (fields[at] as string).charCodeAt(0) === COLON; at += 2) {
    const name = fields[at] as string;
    const value = fields[at + 1] as string;
    if (!PSEUDO_FIELDS.has(name) || pseudo.has(name) || !isPseudoValue(value)) {
      return false;
    }
    pseudo.set(name, value);
  }
  return areGoodTrailers(at === 0 ? fields : fields.slice(at)) && isTarget(pseudo) && isOneHost(fields, pseudo);
}

/** Whether the pseudo-header fields name a target (§8.3.1, §8.5). */
function isTarget(pseudo: ReadonlyMap<string, string>): boolean {
  const method = pseudo.get(":method");
  const path = pseudo.get(":path");
  if (method === "CONNECT") {
    return pseudo.has(":authority") && path === undefined && !pseudo.has(":scheme");
  }
  if (method === undefined || method === "" || path === undefined || !pseudo.get(":scheme")) {
    return false;
  }
  return isPath(path) || (path === "*" && method === "OPTIONS");
}

function isPath(value: string): boolean {
  return value.startsWith("/");
}

/** Whether host, if present, is the same as :authority (§8.3.1). */
function isOneHost(fields: Fields, pseudo: ReadonlyMap<string, string>): boolean {
  const authority = pseudo.get(":authority")?.toLowerCase();
  let host = authority;
  for (let at = 0; at < fields.length; at += 2) {
    if (fields[at] === "host") {
      const value = (fields[at + 1] as string).toLowerCase();
      if (host !== undefined && value !== host) {
        return false;
      }
      host = value;
    }
  }
  return true;
}

/** Whether a request may have this field, which is not a pseudo-header field. */
function isRegular(name: string, value: string): boolean {
  if (!isName(name) || !isValue(value) || CONNECTION_FIELDS.has(name)) {
    return false;
  }
  return name !== "te" || value === "trailers";
}

function isName(name: string): boolean {
  for (let at = 0; at < name.length; at++) {
    if (IN_NAMES[name.charCodeAt(at)] !== 1) {
      return false;
    }
  }
  return name !== "";
}

/**
 * Whether a value has no character that could end it in another protocol. White space at its ends is allowed, as in
 * Node, although §8.2.1 forbids it. A client that sends "Bearer " without a token learns more from an answer than from
 * a reset.
 */
function isValue(value: string): boolean {
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at);
    if (code <= CARRIAGE_RETURN && (code === NUL || code === LINE_FEED || code === CARRIAGE_RETURN)) {
      return false;
    }
  }
  return true;
}

/** Whether a value is allowed in a pseudo-header field. The check is strict, because these values select the method. */
function isPseudoValue(value: string): boolean {
  const hasWhiteEnd = value !== "" && (isWhite(value.charCodeAt(0)) || isWhite(value.charCodeAt(value.length - 1)));
  return !hasWhiteEnd && isValue(value);
}

function isWhite(code: number): boolean {
  return code === SPACE || code === TAB;
}

/** The bytes of the body that content-length declares; UNDECLARED without it, null if it is malformed. */
function declaredBytesOf(fields: Fields): number | null {
  let declared: string | undefined;
  for (let at = 0; at < fields.length; at += 2) {
    if (fields[at] === "content-length") {
      const value = fields[at + 1] as string;
      if (declared !== undefined && declared !== value) {
        return null;
      }
      declared = value;
    }
  }
  if (declared === undefined) {
    return UNDECLARED;
  }
  return /^[0-9]+$/.test(declared) && declared.length <= LENGTH_DIGITS_MAX ? Number(declared) : null;
}
