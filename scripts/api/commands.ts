/** The commands that make the calls of examples: grpcurl for gRPC, and curl for HTTP. */

import type { GrpcExample, HttpExample, Json } from "./examples/index.ts";

/** The width of lines in this repository. */
const LINE_CHARACTERS_MAX = 120;
const CONTINUED = " \\\n  ";

/** The command for a call over gRPC. */
export function grpcurlCommand({ method, port, request }: GrpcExample): string {
  const isAdmin = port === "admin";
  const token = isAdmin ? "ADMIN_TOKEN" : "TOKEN";
  return [
    // The admin port has no reflection.
    `grpcurl -plaintext${isAdmin ? " -protoset proto/generated/descriptors.binpb" : ""}`,
    `-H "authorization: Bearer $${token}" -H "api-version: v1" -H "request-id: $(uuidgen)"`,
    ...(Object.keys(request).length === 0 ? [] : [`-d ${quoted(jsonText(request))}`]),
    `${isAdmin ? "$ADMIN" : "$GRPC"} coordination.v1.${method}`,
  ].join(CONTINUED);
}

/** The command for a request over HTTP. */
export function curlCommand({ method, target, isAuthorized, headers = {}, json, text }: HttpExample): string {
  const hasBody = json !== undefined || text !== undefined;
  // curl sends POST by itself if there is a body.
  const verb = method === (hasBody ? "POST" : "GET") ? "" : ` -X ${method}`;
  return [
    `curl -s${verb} "$API${target}"`,
    ...(isAuthorized ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(json === undefined ? [] : [`-H "Content-Type: application/json" -d ${quoted(jsonText(json))}`]),
    ...(text === undefined ? [] : [`--data-binary ${quoted(text)}`]),
  ].join(CONTINUED);
}

/**
 * JSON as the formatter of the repository writes it: a value that fits into a line is on one line.
 *
 * @param before the text before the value on its line: spaces, and the name of a field
 */
export function jsonText(value: Json, before = ""): string {
  const line = oneLine(value);
  // A comma may follow.
  if (before.length + line.length < LINE_CHARACTERS_MAX || typeof value !== "object" || value === null) {
    return before + line;
  }
  const indentation = " ".repeat(before.length - before.trimStart().length);
  const inner = Array.isArray(value)
    ? value.map((item) => jsonText(item, `${indentation}  `))
    : Object.entries(value).map(([name, field]) => jsonText(field, `${indentation}  ${JSON.stringify(name)}: `));
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return `${before}${open}\n${inner.join(",\n")}\n${indentation}${close}`;
}

function oneLine(value: Json): string {
  if (Array.isArray(value)) {
    return `[${value.map(oneLine).join(", ")}]`;
  }
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).map(([name, inner]) => `${JSON.stringify(name)}: ${oneLine(inner)}`);
    return fields.length === 0 ? "{}" : `{ ${fields.join(", ")} }`;
  }
  return JSON.stringify(value);
}

/** For a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
