/**
 * Contexts: named clusters in the user's configuration file.
 *
 *     current: production
 *     contexts:
 *       production:
 *         endpoints: [quoin.example.com:7400]
 *         api_key: qk_…            # or api_key_file, token, token_file
 *         admin_endpoints: [quoin.example.com:7403]
 *         admin_token_file: admin-token   # or admin_token
 *         tls: true                # implied by ca, cert and key, which are files
 *
 * The command `login` also writes `email`, `api_key_id` and `expires_at`. The field `http_endpoints` of
 * older releases means nothing. A file that contains a key or token itself must be readable only by its owner.
 */

import path from "node:path";
import type { Credentials } from "../../index.ts";
import { UsageError } from "../errors/index.ts";
import { FieldReader, notPrivate } from "../files/index.ts";
import { type Configuration, type ConfigurationPlace, readConfiguration } from "./configuration.ts";
import type { AdminCredentials, ConnectionSource } from "./connection-source.ts";
import type { ConnectionOptions } from "./option-source.ts";
import { readSecretFiles } from "./secret-files.ts";
import { checkTlsFiles } from "./tls-files.ts";

/** The fields that are secrets themselves. */
const SECRET_FIELDS = ["api_key", "token", "admin_token"] as const;

const CREDENTIAL_FIELDS = ["token", "api_key", "token_file", "api_key_file"];

/** All fields of a context. */
const FIELDS = [
  ...["endpoints", "http_endpoints", ...CREDENTIAL_FIELDS, "admin_endpoints", "admin_token", "admin_token_file"],
  ...["tls", "ca", "cert", "key", "email", "api_key_id", "expires_at"],
];

/** The context that a command uses, and what selected it. */
export interface SelectedContext {
  readonly name: string;
  readonly by: "--context" | "QUOIN_CONTEXT" | "the configuration file";
}

/** Selects the context: by the option, else by QUOIN_CONTEXT, else the current one of the file; undefined = none. */
export function selectContext(
  { environment }: Pick<ConfigurationPlace, "environment">,
  option: string | undefined,
  { current }: Pick<Configuration, "current">,
): SelectedContext | undefined {
  if (option !== undefined) {
    return { name: option, by: "--context" };
  }
  const variable = environment.QUOIN_CONTEXT?.trim() ?? "";
  if (variable !== "") {
    return { name: variable, by: "QUOIN_CONTEXT" };
  }
  return current === undefined ? undefined : { name: current, by: "the configuration file" };
}

/**
 * Reads the selected context.
 *
 * @returns undefined if no context is selected, or if the selected one may be lacking and does not exist.
 * @throws UsageError if the file is unusable, lacks the context, or exposes its secrets to other users.
 */
export async function readContextSource(
  place: ConfigurationPlace,
  { context, mayLackContext }: Pick<ConnectionOptions, "context" | "mayLackContext">,
): Promise<ConnectionSource | undefined> {
  const configuration = await readConfiguration(place);
  const selected = selectContext(place, context, configuration);
  if (selected === undefined) {
    return undefined;
  }
  if (mayLackContext === true && !configuration.contexts.has(selected.name)) {
    return undefined;
  }
  const fields = contextFields(configuration, selected.name);
  const hasSecret = SECRET_FIELDS.some((name) => fields.text(name) !== undefined);
  if (!configuration.isPrivate && hasSecret) {
    throw notPrivate(configuration.file);
  }
  return toSource(fields, path.dirname(configuration.file));
}

/**
 * The fields of a context.
 *
 * @throws UsageError if there is no such context; the hint lists the known ones.
 */
export function contextFields(configuration: Configuration, name: string): FieldReader {
  const { file, contexts } = configuration;
  const context = contexts.get(name);
  if (context === undefined) {
    throw unknownContext(configuration, name);
  }
  return new FieldReader(`${file}, context ${name},`, context);
}

/** The error for a context that does not exist. */
export function unknownContext({ file, exists, contexts }: Configuration, name: string): UsageError {
  const known = [...contexts.keys()].join(", ");
  const message = exists ? `${file} has no context ${name}` : `there is no context ${name}: ${file} does not exist`;
  const create = `create it with: quoinctl context set ${name} --endpoints host:port`;
  return new UsageError(message, known === "" ? create : `the contexts are ${known}; or ${create}`);
}

async function toSource(fields: FieldReader, directory: string): Promise<ConnectionSource> {
  const fileAt = (name: string) => {
    const file = fields.text(name);
    return file === undefined ? undefined : path.resolve(directory, file);
  };
  await fields.requireKnown(FIELDS);
  const [one, other] = CREDENTIAL_FIELDS.filter((name) => fields.text(name) !== undefined);
  if (other !== undefined) {
    throw new UsageError(`the context has ${one} and ${other}: keep one of them`);
  }
  const tls = await checkTlsFiles({ ca: fileAt("ca"), cert: fileAt("cert"), key: fileAt("key") });
  return {
    endpoints: fields.texts("endpoints"),
    credentials:
      inlineCredentials(fields) ??
      (await readSecretFiles({ tokenFile: fileAt("token_file"), apiKeyFile: fileAt("api_key_file") })),
    adminEndpoints: fields.texts("admin_endpoints"),
    adminCredentials: adminCredentials(fields.text("admin_token"), fileAt("admin_token_file")),
    tls: tls ?? (fields.flag("tls") ? {} : undefined),
  };
}

function adminCredentials(token: string | undefined, tokenFile: string | undefined): AdminCredentials | undefined {
  if (token !== undefined) {
    return { token };
  }
  return tokenFile === undefined ? undefined : { tokenFile };
}

function inlineCredentials(fields: FieldReader): Credentials | undefined {
  const token = fields.text("token");
  if (token !== undefined) {
    return { token };
  }
  const apiKey = fields.text("api_key");
  return apiKey === undefined ? undefined : { apiKey };
}
