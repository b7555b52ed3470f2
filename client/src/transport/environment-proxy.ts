/**
 * The proxy through which the environment wants members to be reached, with and without TLS. It passes on a connection
 * (CONNECT, RFC 9110 §9.3.6): with TLS it sees no content.
 *
 * Names are in small letters or in capitals; small letters come first. This machine is always reached directly.
 */

import { BlockList, isIP } from "node:net";
import { badField } from "../options/index.ts";
import { hostOf, isLoopback } from "./endpoint.ts";

/** A proxy. */
export interface EnvironmentProxy {
  readonly host: string;
  readonly port: number;
  /** For the header Proxy-Authorization; undefined = none. */
  readonly authorization: string | undefined;
  /** For messages, without credentials: such as `http://proxy.example:3128 of https_proxy`. */
  readonly shown: string;
}

/** In the order in which they count. */
const PROXY_VARIABLES = ["grpc_proxy", "https_proxy", "http_proxy"];
const DIRECT_VARIABLES = ["no_grpc_proxy", "no_proxy"];

const DEFAULT_PORT = "80";

/**
 * The proxy for an endpoint; undefined = it is reached directly.
 *
 * @param endpoint a valid `host:port`.
 * @throws QuoinError INVALID_ARGUMENT / BAD_FIELD for a variable that names no proxy.
 */
export function proxyFor(endpoint: string, environment: NodeJS.ProcessEnv = process.env): EnvironmentProxy | undefined {
  const host = hostOf(endpoint);
  if (isLoopback(host)) {
    return undefined;
  }
  const found = firstSet(environment, PROXY_VARIABLES);
  if (found === undefined) {
    return undefined;
  }
  const direct = firstSet(environment, DIRECT_VARIABLES)?.value ?? "";
  if (direct.split(",").some((entry) => isMatch(entry.trim().toLowerCase(), host.toLowerCase()))) {
    return undefined;
  }
  return parseProxy(found.name, found.value);
}

interface Variable {
  readonly name: string;
  readonly value: string;
}

function firstSet(environment: NodeJS.ProcessEnv, names: readonly string[]): Variable | undefined {
  return names
    .flatMap((name) => [name, name.toUpperCase()])
    .filter((name) => !isOfRequest(name, environment))
    .map((name) => ({ name, value: environment[name]?.trim() ?? "" }))
    .find(({ value }) => value !== "");
}

/** In a CGI program, HTTP_PROXY is the header Proxy of a request, which anyone may send (CVE-2016-5385). */
function isOfRequest(name: string, environment: NodeJS.ProcessEnv): boolean {
  return name === "HTTP_PROXY" && environment.REQUEST_METHOD !== undefined;
}

/** Whether an entry of no_proxy has a host: all, an address, a network, or a name with the names below it. */
function isMatch(entry: string, host: string): boolean {
  if (entry === "*") {
    return true;
  }
  const name = entry.replace(/^\*?\./, "");
  if (name === "") {
    return false;
  }
  const family = isIP(host);
  if (family === 0) {
    return host === name || host.endsWith(`.${name}`);
  }
  const [network = "", bits] = name.replace(/^\[|\]$/g, "").split("/");
  if (isIP(network) !== family) {
    return false;
  }
  const kind = family === 4 ? "ipv4" : "ipv6";
  const length = bits === undefined ? BITS_MAX[kind] : Number(bits);
  if (!(Number.isInteger(length) && length >= 0 && length <= BITS_MAX[kind])) {
    return false;
  }
  const list = new BlockList();
  list.addSubnet(network, length, kind);
  return list.check(host, kind);
}

const BITS_MAX = { ipv4: 32, ipv6: 128 } as const;

/** A value without a scheme is `host:port`. The message never has the value, which may have a password. */
function parseProxy(variable: string, value: string): EnvironmentProxy {
  const url = URL.parse(value.includes("://") ? value : `http://${value}`);
  const user = decoded(url?.username ?? "");
  const password = decoded(url?.password ?? "");
  if (url === null || url.protocol !== "http:" || url.hostname === "" || user === null || password === null) {
    throw badField(variable, "must name a proxy as http://host:port; addresses in no_proxy are reached directly");
  }
  const port = url.port === "" ? DEFAULT_PORT : url.port;
  const credentials = Buffer.from(`${user}:${password}`).toString("base64");
  return {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: Number(port),
    authorization: url.username === "" && url.password === "" ? undefined : `Basic ${credentials}`,
    shown: `http://${url.hostname}:${port} of ${variable}`,
  };
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) {
      return null;
    }
    throw error;
  }
}
