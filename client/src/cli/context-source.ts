/**
 * Contexts: named clusters in the user's configuration file, `quoin/config.yaml` in $XDG_CONFIG_HOME or ~/.config.
 *
 *     current: production
 *     contexts:
 *       production:
 *         endpoints: [quoin.example.com:7400]
 *         http_endpoints: ["https://quoin.example.com:7401"]
 *         api_key: qk_…            # or api_key_file, token, token_file
 *         admin_endpoints: [quoin.example.com:7403]
 *         admin_token_file: admin-token   # or admin_token
 *         tls: true                # implied by ca, cert and key, which are files
 *
 * A file that contains a key or token itself must be readable only by its owner. The program never writes it.
 */

import path from "node:path";
import { parse, YAMLParseError } from "yaml";
import type { AdminCredentials, ConnectionSource, SourceCredentials } from "./connection-source.ts";
import { FieldReader } from "./document.ts";
import { notPrivate, readPossiblyPrivateFile } from "./private-file.ts";
import { readSecretFiles } from "./secret-files.ts";
import type { Terminal } from "./terminal.ts";
import { readTlsFiles } from "./tls-files.ts";
import { UsageError } from "./usage-error.ts";

/**
 * Reads a context.
 *
 * @param name the context to use; undefined = the current one in the file.
 * @returns undefined if no context is requested, and the file does not exist or has no current one.
 * @throws UsageError if the file is unusable, lacks the context, or exposes its secrets to other users.
 */
export async function readContextSource(
  terminal: Pick<Terminal, "environment" | "homeDirectory">,
  name: string | undefined,
): Promise<ConnectionSource | undefined> {
  const file = configurationFile(terminal);
  const found = await readPossiblyPrivateFile(file);
  if (found === undefined) {
    if (name === undefined) return undefined;
    throw new UsageError(`there is no context ${name}: ${file} does not exist`);
  }
  const document = new FieldReader(file, parseYaml(file, found.content));
  const wanted = name ?? document.text("current");
  if (wanted === undefined) return undefined;
  const context = document.object("contexts")?.get(wanted);
  if (context === undefined) throw new UsageError(`${file} has no context ${wanted}`);
  const fields = new FieldReader(`${file}, context ${wanted},`, context);
  const hasSecret = ["api_key", "token", "admin_token"].some((name) => fields.text(name) !== undefined);
  if (!found.isPrivate && hasSecret) throw notPrivate(file);
  return toSource(fields, path.dirname(file));
}

function configurationFile({ environment, homeDirectory }: Pick<Terminal, "environment" | "homeDirectory">): string {
  const configured = environment.XDG_CONFIG_HOME;
  // The XDG Base Directory Specification says to ignore a relative path.
  const base =
    configured !== undefined && path.isAbsolute(configured) ? configured : path.join(homeDirectory, ".config");
  return path.join(base, "quoin", "config.yaml");
}

/** The parser's message quotes the text, which may be a secret; the line number is enough. */
function parseYaml(file: string, text: string): unknown {
  try {
    return parse(text, { mapAsMap: true, prettyErrors: true });
  } catch (error) {
    const line = error instanceof YAMLParseError ? error.linePos?.[0].line : undefined;
    throw new UsageError(`${file} is not valid YAML${line === undefined ? "" : `, line ${line}`}`);
  }
}

async function toSource(fields: FieldReader, directory: string): Promise<ConnectionSource> {
  const fileAt = (name: string) => {
    const file = fields.text(name);
    return file === undefined ? undefined : path.resolve(directory, file);
  };
  const tls = await readTlsFiles({ ca: fileAt("ca"), cert: fileAt("cert"), key: fileAt("key") });
  return {
    endpoints: fields.texts("endpoints"),
    httpEndpoints: fields.texts("http_endpoints"),
    credentials:
      inlineCredentials(fields) ??
      (await readSecretFiles({ tokenFile: fileAt("token_file"), apiKeyFile: fileAt("api_key_file") })),
    adminEndpoints: fields.texts("admin_endpoints"),
    adminCredentials: adminCredentials(fields.text("admin_token"), fileAt("admin_token_file")),
    tls: tls ?? (fields.flag("tls") ? {} : undefined),
  };
}

function adminCredentials(token: string | undefined, tokenFile: string | undefined): AdminCredentials | undefined {
  if (token !== undefined) return { token };
  return tokenFile === undefined ? undefined : { tokenFile };
}

function inlineCredentials(fields: FieldReader): SourceCredentials | undefined {
  const token = fields.text("token");
  if (token !== undefined) return { token };
  const apiKey = fields.text("api_key");
  return apiKey === undefined ? undefined : { apiKey };
}
