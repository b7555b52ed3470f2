/**
 * `quoinctl login`: logs a person in with an e-mail address and a password, and saves the access in a context. It saves
 * an API key that ends by itself, from which every later command gets its tokens. A viewer may not create API keys, and
 * gets a token that cannot be renewed.
 */

import { hostname } from "node:os";
import path from "node:path";
import type { Client, CreatedApiKey, Login } from "../../index.ts";
import { flag, option } from "../arguments/index.ts";
import {
  type ClusterPlace,
  changeConfiguration,
  contextFields,
  readConfiguration,
  selectContext,
} from "../connection/index.ts";
import { isRefusal, UsageError } from "../errors/index.ts";
import { writePrivateFile } from "../files/index.ts";
import { askPassword, readPasswordFile } from "../prompts/index.ts";
import { firstCommand, type Session } from "../session/index.ts";
import { parsePositiveCount } from "../text/index.ts";
import { setFields, setFirstContext } from "./context-document.ts";

/** The context that gets the access, and what it has already. */
interface Target {
  readonly name: string;
  readonly isNew: boolean;
  readonly endpoints?: readonly string[] | undefined;
  /** The user of the last login. */
  readonly email?: string | undefined;
  /** The id of the API key of the last login. */
  readonly apiKeyId?: string | undefined;
}

/** How long a login lasts by default. */
const DEFAULT_DAYS = 30;

/** The name of the first context, if the user gives none. */
const FIRST_CONTEXT = "default";

/** The longest name of an API key that the service takes. */
const KEY_NAME_CHARACTERS = 128;

const MS_PER_SECOND = 1_000;

const AFTER_HELP = `
The access is saved in the context of --context, else of QUOIN_CONTEXT, else in the current one. A context that does not
exist yet is created for the cluster of --endpoints, or for the local cluster. Examples:

  quoinctl login ada@example.com
  quoinctl login ada@example.com --context production --endpoints quoin.example.com:7400 --ca ca.pem
  TOKEN=$(quoinctl login ada@example.com --print-token --password-file FILE)`;

/** The command. */
export const LOGIN = firstCommand("[EMAIL]", {
  arguments: { EMAIL: { description: "default: the one of the last login in this context" } },
  options: {
    passwordFile: option("<FILE>", "file with the password (default: type it)"),
    expiresInDays: option("<DAYS>", "days that the login lasts, up to 3,650", parsePositiveCount).byDefault(
      DEFAULT_DAYS,
    ),
    printToken: flag("print an access token, and save nothing").without("save"),
    save: option("<FILE>", "write an access token to a file for --token-file, which only you can read"),
  },
  help: AFTER_HELP,
  run: async (session, given, options) => {
    const { passwordFile, save, printToken } = options;
    const target = await findTarget(session);
    const email = given ?? target.email;
    if (email === undefined) {
      throw new UsageError("name the user: quoinctl login EMAIL");
    }
    const place = await session.findPlace({ mayLackContext: true });
    const savesAccess = printToken !== true && save === undefined;
    if (savesAccess) {
      assertFits(session.terminal, target, place);
    }
    const password =
      passwordFile === undefined ? await askPassword(session.terminal) : await readPasswordFile(passwordFile);
    const { logIn } = await import("../../index.ts");
    const entered = await logIn({ email, password, ...place, timeoutMs: session.timeoutMs });
    if (savesAccess) {
      await saveAccess(session, target, place, entered, options.expiresInDays);
    } else if (save === undefined) {
      const { accessToken } = entered;
      const document = { access_token: accessToken, ...tokenDocument(entered), ...loginDocument(entered) };
      await session.print({ document, shown: Buffer.from(`${accessToken}\n`) });
    } else {
      await writePrivateFile(save, `${entered.accessToken}\n`);
      const document = { ...tokenDocument(entered), ...loginDocument(entered) };
      await session.print({ document, shown: Buffer.from(`logged in; the token is in ${save}\n`) });
    }
  },
});

/** The selected context; one that does not exist is created. */
async function findTarget(session: Session): Promise<Target> {
  const configuration = await readConfiguration(session.terminal);
  const name = selectContext(session.terminal, session.connectionOptions.context, configuration)?.name;
  if (name === undefined || !configuration.contexts.has(name)) {
    return { name: name ?? FIRST_CONTEXT, isNew: true };
  }
  const fields = contextFields(configuration, name);
  return {
    name,
    isNew: false,
    endpoints: fields.texts("endpoints"),
    email: fields.text("email"),
    apiKeyId: fields.text("api_key_id"),
  };
}

/** @throws UsageError if the access would come into a context of another cluster, or that cannot reach its own. */
function assertFits({ environment }: Session["terminal"], target: Target, { endpoints, tls }: ClusterPlace): void {
  const { name, isNew, endpoints: known = endpoints } = target;
  if (known.join() !== endpoints.join()) {
    throw new UsageError(
      `the context ${name} is for ${known.join(", ")}, not for ${endpoints.join(", ")}`,
      "name another one, which is then created: --context NAME",
    );
  }
  if (isNew && tls !== undefined && (environment.QUOIN_CA_PEM || environment.QUOIN_CA_FILE)) {
    throw new UsageError("a context has its own certificates, not those of the environment", "use --ca FILE instead");
  }
}

/** Writes the access into the context: an API key for this machine, or the token of a viewer. */
async function saveAccess(
  session: Session,
  target: Target,
  place: ClusterPlace,
  entered: Login,
  days: number,
): Promise<void> {
  const { user, accessToken, expiresInSeconds } = entered;
  const { createClient } = await import("../../index.ts");
  const client = createClient({ ...place, credentials: { token: accessToken }, timeoutMs: session.timeoutMs });
  try {
    const created = await createKey(client, days);
    const expiresAt = new Date(created?.expiresAtMs ?? Date.now() + expiresInSeconds * MS_PER_SECOND).toISOString();
    const fields = new Map<string, unknown>(target.isNew ? clusterFields(session, place) : []);
    fields.set("email", user.email);
    if (created === undefined) {
      fields.set("token", accessToken);
    } else {
      fields.set("api_key", created.key).set("api_key_id", created.apiKeyId);
    }
    fields.set("expires_at", expiresAt);
    try {
      await changeConfiguration(session.terminal, (document) => {
        setFields(document, target.name, fields);
        setFirstContext(document, target.name);
      });
    } catch (error) {
      if (created !== undefined) {
        await forget(session, client, created.apiKeyId);
      }
      throw error;
    }
    if (target.apiKeyId !== undefined) {
      await forget(session, client, target.apiKeyId);
    }
    await session.print({
      document: { ...loginDocument(entered), context: target.name, expires_at: expiresAt },
      shown: Buffer.from(
        `logged in as ${user.email} (${user.role}); the context ${target.name} has the access, until ${expiresAt}\n`,
      ),
    });
    if (created === undefined) {
      session.note(`the role ${user.role} may not create API keys: log in again after that`);
    }
  } finally {
    client.close();
  }
}

/** Undefined = the user may not create API keys. */
async function createKey(client: Client, expiresInDays: number): Promise<CreatedApiKey | undefined> {
  const name = Array.from(`quoinctl on ${hostname()}`).slice(0, KEY_NAME_CHARACTERS).join("");
  try {
    return await client.keys.create(name, { expiresInDays });
  } catch (error) {
    if (isRefusal(error, "PERMISSION_DENIED")) {
      return undefined;
    }
    throw error;
  }
}

/** Revokes an API key that no command needs any more. It ends by itself too. */
async function forget(session: Session, client: Client, apiKeyId: string): Promise<void> {
  try {
    await client.keys.revoke(apiKeyId);
  } catch (error) {
    if (!isRefusal(error, "NOT_FOUND")) {
      session.warn(`the API key ${apiKeyId} was not revoked: ${String(error)}`);
    }
  }
}

/** The fields of a new context, from the options. */
function clusterFields(session: Session, { endpoints, tls }: ClusterPlace): readonly (readonly [string, unknown])[] {
  const { ca, cert, key } = session.connectionOptions;
  const absolute = (file: string | undefined) => file && path.resolve(session.terminal.workingDirectory, file);
  const fields: readonly (readonly [string, unknown])[] = [
    ["endpoints", endpoints],
    ["ca", absolute(ca)],
    ["cert", absolute(cert)],
    ["key", absolute(key)],
    ["tls", tls !== undefined && ca === undefined && cert === undefined ? true : undefined],
  ];
  return fields.filter(([, value]) => value !== undefined);
}

function loginDocument({ user: { userId, email, role, namespaces } }: Login): object {
  return { user: { user_id: userId, email, role, namespaces } };
}

function tokenDocument({ expiresInSeconds }: Login): object {
  return { expires_in: expiresInSeconds, token_type: "Bearer" };
}
