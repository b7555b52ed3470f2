/**
 * Changes to a valid request on the wire, each with the required outcome. All of them are below the level of
 * Schemathesis: heads, framing, escapes, bytes.
 */

import type { RandomStream } from "../../verify/sim/index.ts";
import type { WrittenRequest } from "./valid-request.ts";

/**
 * The required outcome of a request. `accepted` = it is answered as if unchanged; `refused`; `broken` = the connection
 * is given up, and the request has no effect; `any` = anything that the document allows.
 */
export type ExpectedOutcome = "accepted" | "refused" | "broken" | "any";

export interface Mutated {
  readonly expected: ExpectedOutcome;
  /** The bytes to write, one character for each. */
  readonly pieces: readonly string[];
  /** Whether it may now be a request of another operation, or of none. */
  readonly isElsewhere?: boolean;
}

export type Mutation = (request: WrittenRequest, random: RandomStream) => Mutated;

/** Larger than a batch may be, and larger than any other body may be. */
const BATCH_BYTES_ABOVE = 11 * 1024 * 1024;
const BODY_BYTES_ABOVE = 2 * 1024 * 1024;
const HEAD_BYTES_ABOVE = 20_000;
const HEADERS_ABOVE = 150;
const DEPTH = 10_000;
const PIECES = 5;
const METHODS = ["PUT", "TRACE", "OPTIONS", "HEAD", "GET", "POST", "PATCH", "DELETE", "QUERY", "PROPFIND"];
const WRONG_METHODS = ["BREW", "get", "G\u0000T", "", "POST POST", "\u00ff"];
const TYPES = [
  "text/plain",
  "application/jsonx",
  "application/json; charset=utf-16",
  "multipart/form-data",
  "/",
  "\u00ff",
];
const SEGMENTS = [
  "//",
  "/./",
  "/../",
  "/%2e%2e/",
  "/%2F",
  "/%00",
  "/%FF",
  "/%",
  "/%zz",
  "/\\",
  "/\u00ff\u00fe",
  "/;a=b",
  "/*",
];
const AUTHORIZATIONS = ["", "Bearer", "Bearer ", "Basic eDp5", "Token x", "Bearer a b", "Bearer e30.e30.e30", "\u00ff"];
const QUERIES = [
  "%",
  "%zz=1",
  "a=%FF",
  "=",
  "&&&",
  "access_token=x",
  "__proto__=1",
  "a[b]=c",
  "limit[]=1",
  "\u00ff=\u00fe",
];
const BAD_HEADS = ["X Y: z", "X\u0000: z", "NoColon", ": empty", " folded", "X: a\u0000b", "Transfer-Encoding: gzip"];
const BAD_CHUNKS = [
  "zz\r\nab\r\n",
  "-1\r\n",
  "5\r\nab\r\n0\r\n\r\n",
  "ffffffffffffffffff\r\n",
  "2\r\nabc\r\n0\r\n\r\n",
];
const OVERRIDES = ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"];
const EXPECTATIONS = ["100-continue", "200-ok"];

/** By name; changes of the body are in `BODY_MUTATIONS`. */
export const MUTATIONS: Readonly<Record<string, Mutation>> = {
  "as it is": asItIs,
  "in pieces": (request, random) => ({ expected: "accepted", pieces: cutUp(written(request), random) }),
  "headers in another case": (request, random) => ({
    expected: "accepted",
    pieces: [written({ ...request, headers: request.headers.map(([name, value]) => [anyCase(name, random), value]) })],
  }),
  "headers of overriding": (request, random) =>
    accepted(request, [String(random.pick(OVERRIDES)), String(random.pick(METHODS))]),
  "an expectation": (request, random) => accepted(request, ["Expect", String(random.pick(EXPECTATIONS))]),
  "unknown parameters": (request) => ({
    expected: "refused",
    pieces: [written({ ...request, target: `${withQuery(request.target)}_method=DELETE&constructor=1` })],
  }),
  "a query that is none": (request, random) => ({
    expected: "any",
    pieces: [written({ ...request, target: `${withQuery(request.target)}${random.pick(QUERIES)}` })],
  }),
  "a repeated header": (request, random) => {
    const repeated = random.pick(request.headers) ?? ["Host", "x"];
    return { expected: "any", pieces: [written({ ...request, headers: [...request.headers, repeated] })] };
  },
  "two hosts": (request) => refused(request, ["Host", "elsewhere"]),
  "no host": (request) => ({
    expected: "refused",
    pieces: [written({ ...request, headers: request.headers.filter(([name]) => name !== "Host") })],
  }),
  "another length beside the right one": (request) => ({
    // An operation without a body does not read it.
    ...refused(request, ["Content-Length", String(request.body.length + 1)]),
    expected: request.headers.some(([name]) => name === "Content-Length") ? "refused" : "any",
  }),
  "a length that is none": (request, random) =>
    refused(without(request, "Content-Length"), [
      "Content-Length",
      String(random.pick(["-1", "1e3", "0x1", "1,1", "+1"])),
    ]),
  "a length and chunks": (request) =>
    refused(extended(without(request, "Content-Length"), ["Content-Length", "5"]), ["Transfer-Encoding", "chunked"]),
  "a header that is none": (request, random) => ({
    expected: "refused",
    pieces: [written(request).replace("\r\n", `\r\n${random.pick(BAD_HEADS)}\r\n`)],
  }),
  "too large a head": (request) => refused(request, ["X-Large", "x".repeat(HEAD_BYTES_ABOVE)]),
  "too many headers": (request) =>
    refused(request, ...Array.from({ length: HEADERS_ABOVE }, (_, at) => [`X-${at}`, "y"] as const)),
  "no token, or another": (request, random) => {
    const headers = request.headers.filter(([name]) => name !== "Authorization");
    const isNeeded = headers.length < request.headers.length;
    const other: [string, string][] = random.chance(1 / 5)
      ? []
      : [["Authorization", random.pick(AUTHORIZATIONS) ?? ""]];
    return {
      expected: isNeeded ? "refused" : "any",
      pieces: [written({ ...request, headers: [...headers, ...other] })],
    };
  },
  "another method": (request, random) => elsewhere({ ...request, method: random.pick(METHODS) ?? "PUT" }),
  "a method that is none": (request, random) => ({
    ...elsewhere({ ...request, method: random.pick(WRONG_METHODS) ?? "" }),
    expected: "refused",
  }),
  "another version": (request, random) => {
    const version = random.pick(["HTTP/1.0", "HTTP/0.9", "HTTP/2.0", "HTTP/9.9", "http/1.1", "HTCPCP/1.0"]);
    return {
      expected: "any",
      pieces: [written(request).replace(" HTTP/1.1\r\n", ` ${version}\r\n`)],
      isElsewhere: true,
    };
  },
  "escapes in the path": (request, random) => elsewhere({ ...request, target: escaped(request.target, random) }),
  "another segment of the path": (request, random) => {
    const at = random.below(request.target.length);
    const target = `${request.target.slice(0, at)}${random.pick(SEGMENTS)}${request.target.slice(at)}`;
    return elsewhere({ ...request, target });
  },
  "an absolute target": (request) => elsewhere({ ...request, target: `http://elsewhere${request.target}` }),
  "random bytes in the head": (request, random) => {
    const text = written(without(request, "Authorization"));
    // A client that waits for the end of the connection must have requested it.
    const end = text.indexOf("\r\nConnection: ");
    return { expected: "any", pieces: [`${flipped(text.slice(0, end), random)}${text.slice(end)}`], isElsewhere: true };
  },
  "cut in the head": (request, random) => {
    const text = written(request);
    return { expected: "broken", pieces: [text.slice(0, random.below(text.indexOf("\r\n\r\n") + 2))] };
  },
};

/** Changes for requests with a body. */
export const BODY_MUTATIONS: Readonly<Record<string, Mutation>> = {
  "chunks without a length": (request, random) => ({
    expected: "accepted",
    pieces: [chunkedHead(request), ...cutUp(request.body, random).map(chunk), "0\r\n\r\n"],
  }),
  "chunks that are none": (request, random) => ({
    expected: "broken",
    pieces: [chunkedHead(request), random.pick(BAD_CHUNKS) ?? ""],
  }),
  "cut in the chunks": (request, random) => ({
    expected: "broken",
    pieces: [chunkedHead(request), ...cutUp(request.body, random).map(chunk)],
  }),
  "cut in the body": (request, random) => {
    const text = written(request);
    return { expected: "broken", pieces: [text.slice(0, text.length - 1 - random.below(request.body.length))] };
  },
  "too large, announced": (request) => ({
    expected: "refused",
    pieces: [written(extended(without(request, "Content-Length"), ["Content-Length", String(bytesAbove(request))]))],
  }),
  "too large, in chunks": (request) => ({
    expected: "refused",
    pieces: [chunkedHead(without(request, "Connection")), chunk("x".repeat(bytesAbove(request))), "0\r\n\r\n"],
  }),
  "another type": (request, random) => ({
    expected: isJson(request) ? "refused" : "any",
    pieces: [written(extended(without(request, "Content-Type"), ["Content-Type", random.pick(TYPES) ?? ""]))],
  }),
  "a coded body": (request, random) =>
    refused(request, ["Content-Encoding", random.pick(["gzip", "br", "x"]) ?? "gzip"]),
  "random bytes in the body": (request, random) => ({
    expected: "any",
    pieces: [written({ ...request, body: flipped(request.body, random) })],
  }),
  "another body": (request, random) => {
    const body =
      random.pick(["", "null", "[]", "{", "\u00ff", "[".repeat(DEPTH), '{"a":'.repeat(DEPTH), "\u0000"]) ?? "";
    const resized = { ...without(request, "Content-Length"), body };
    return {
      expected: isJson(request) ? "refused" : "any",
      pieces: [written(extended(resized, ["Content-Length", String(body.length)]))],
    };
  },
};

/** Without a change. */
export function asItIs(request: WrittenRequest): Mutated {
  return { expected: "accepted", pieces: [written(request)] };
}

function written({ method, target, headers, body }: WrittenRequest): string {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${target} HTTP/1.1\r\n${lines.join("")}\r\n${body}`;
}

function accepted(request: WrittenRequest, header: readonly [string, string]): Mutated {
  return { expected: "accepted", pieces: [written(extended(request, header))] };
}

function refused(request: WrittenRequest, ...headers: readonly (readonly [string, string])[]): Mutated {
  return { expected: "refused", pieces: [written(extended(request, ...headers))] };
}

function elsewhere(request: WrittenRequest): Mutated {
  return { expected: "any", pieces: [written(request)], isElsewhere: true };
}

function extended(request: WrittenRequest, ...headers: readonly (readonly [string, string])[]): WrittenRequest {
  return { ...request, headers: [...request.headers, ...headers] };
}

function without(request: WrittenRequest, header: string): WrittenRequest {
  return { ...request, headers: request.headers.filter(([name]) => name !== header) };
}

function bytesAbove({ target }: WrittenRequest): number {
  return target.includes("/append_batch") ? BATCH_BYTES_ABOVE : BODY_BYTES_ABOVE;
}

function isJson({ headers }: WrittenRequest): boolean {
  return headers.some(([name, value]) => name === "Content-Type" && value === "application/json");
}

function withQuery(target: string): string {
  return `${target}${target.includes("?") ? "&" : "?"}`;
}

function chunkedHead(request: WrittenRequest): string {
  return written(extended({ ...without(request, "Content-Length"), body: "" }, ["Transfer-Encoding", "chunked"]));
}

function chunk(text: string): string {
  return text === "" ? "" : `${text.length.toString(16)}\r\n${text}\r\n`;
}

function cutUp(text: string, random: RandomStream): string[] {
  const cuts = Array.from({ length: PIECES }, () => random.below(text.length + 1)).sort((a, b) => a - b);
  return [0, ...cuts].map((from, at) => text.slice(from, cuts[at] ?? text.length));
}

function anyCase(name: string, random: RandomStream): string {
  return [...name].map((letter) => (random.chance(1 / 2) ? letter.toUpperCase() : letter.toLowerCase())).join("");
}

function escaped(target: string, random: RandomStream): string {
  const path = target.split("?")[0] ?? "";
  const letters = [...path].map((letter) =>
    letter !== "/" && random.chance(1 / 10) ? `%${letter.charCodeAt(0).toString(16)}` : letter,
  );
  return letters.join("") + target.slice(path.length);
}

function flipped(text: string, random: RandomStream): string {
  const bytes = Buffer.from(text, "latin1");
  for (let left = random.whole(1, PIECES); left > 0; left--) {
    bytes[random.below(bytes.length)] = random.below(256);
  }
  return bytes.toString("latin1");
}
