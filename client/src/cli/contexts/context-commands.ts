/** `quoinctl context …`: the clusters that the configuration file knows, and which of them is used. */

import path from "node:path";
import { flag, type OptionsOf, option } from "../arguments/index.ts";
import {
  assertEndpoints,
  assertKeyPair,
  assertOneSecret,
  type Configuration,
  type ConnectionOptions,
  changeConfiguration,
  contextFields,
  readConfiguration,
  selectContext,
  unknownContext,
} from "../connection/index.ts";
import { UsageError } from "../errors/index.ts";
import type { FieldReader } from "../files/index.ts";
import { command, commandGroup, type Session } from "../session/index.ts";
import { parseList } from "../text/index.ts";
import { removeContext, setFields, setFirstContext } from "./context-document.ts";

const GROUP_HELP =
  "\nA command uses the context of --context, else of QUOIN_CONTEXT, else the current one. Endpoints that are given\n" +
  "with --endpoints or QUOIN_ENDPOINTS precede the last two.";

const SET_HELP = `
Options of every command give the rest: --endpoints, --token-file or --api-key-file, --ca, --cert and --key. The file of
a key or token is read again by each command. What is not given stays as it is. Examples:

  quoinctl context set production --endpoints quoin.example.com:7400 --ca ca.pem
  quoinctl context set production --api-key-file ~/production.key
  quoinctl context use production`;

const LIST = command("list", {
  description: "list the contexts; * marks the one that commands use",
  run: async (session) => {
    const configuration = await readConfiguration(session.terminal);
    const selected = selectContext(session.terminal, session.connectionOptions.context, configuration)?.name;
    const contexts = [...configuration.contexts.keys()].map((name) => describe(configuration, String(name)));
    await session.print({
      document: { current: selected ?? null, contexts },
      shown: {
        columns: ["", "NAME", "ENDPOINTS", "TLS", "CREDENTIALS", "EMAIL"],
        rows: contexts.map(({ name, endpoints, tls, credentials, email }) => [
          ...[name === selected ? "*" : "", name, endpoints.join(",") || undefined, tls ? "yes" : "no"],
          ...[credentials ?? undefined, email ?? undefined],
        ]),
      },
    });
  },
});

const USE = command("use <CONTEXT>", {
  description: "make a context the current one",
  run: async (session, name) => {
    const configuration = await readConfiguration(session.terminal);
    if (!configuration.contexts.has(name)) {
      throw unknownContext(configuration, name);
    }
    await changeConfiguration(session.terminal, (document) => {
      if (!document.hasIn(["contexts", name])) {
        throw unknownContext(configuration, name);
      }
      document.setIn(["current"], name);
    });
    await session.print({ document: { current: name }, shown: Buffer.from(`the current context is ${name}\n`) });
    warnOfOverride(session, name);
  },
});

const SET_OPTIONS = {
  adminEndpoints: option("<LIST>", "admin ports as host:port", parseList),
  adminTokenFile: option("<FILE>", "file with the admin token for them"),
  tls: flag("encrypt the connection, and trust the certificate authorities of the system"),
  // Gives `tls` the value false.
  noTls: flag("do not encrypt the connection"),
};

const SET = command("set <CONTEXT>", {
  description: "create a context, or change it; the first one becomes the current one",
  options: SET_OPTIONS,
  help: SET_HELP,
  run: async (session, name, options) => {
    assertName(name);
    const fields = fieldsToSet(session.connectionOptions, options, session.terminal.workingDirectory);
    await assertEndpoints([...(session.connectionOptions.endpoints ?? []), ...(options.adminEndpoints ?? [])]);
    let isCurrent = false;
    await changeConfiguration(session.terminal, (document) => {
      const isNew = !document.hasIn(["contexts", name]);
      if (isNew && !fields.has("endpoints")) {
        throw new UsageError(`the new context ${name} needs endpoints`, "add --endpoints host:port");
      }
      setFields(document, name, fields);
      setFirstContext(document, name);
      isCurrent = document.get("current") === name;
    });
    const configuration = await readConfiguration(session.terminal);
    await session.print({
      document: describe(configuration, name),
      shown: Buffer.from(`context ${name} is set${isCurrent ? ", and is the current one" : ""}\n`),
    });
  },
});

const DELETE = command("delete <CONTEXT>", {
  description: "remove a context from the configuration file; its API key stays valid, see: logout",
  run: async (session, name) => {
    const configuration = await readConfiguration(session.terminal);
    await changeConfiguration(session.terminal, (document) => {
      if (!document.hasIn(["contexts", name])) {
        throw unknownContext(configuration, name);
      }
      removeContext(document, name);
    });
    await session.print({
      document: { name, deleted: true },
      shown: Buffer.from(`context ${name} is deleted\n`),
    });
  },
});

const CURRENT = command("current", {
  description: "print the name of the context that commands use",
  run: async (session) => {
    const configuration = await readConfiguration(session.terminal);
    const selected = selectContext(session.terminal, session.connectionOptions.context, configuration);
    if (selected === undefined) {
      throw new UsageError("no context is selected", "see: quoinctl context list, and: quoinctl context use");
    }
    const fields = contextFields(configuration, selected.name);
    await session.print({
      document: { ...describe(configuration, selected.name), selected_by: selected.by },
      shown: Buffer.from(`${selected.name}\n`),
    });
    if (fields.texts("endpoints") !== undefined) {
      warnOfOverride(session, selected.name);
    }
  },
});

/** The commands of the group. */
export const CONTEXT_COMMANDS = commandGroup(GROUP_HELP, [LIST, USE, SET, DELETE, CURRENT]);

/** Warns if the environment names another cluster, which precedes the context. */
function warnOfOverride(session: Session, name: string): void {
  const { environment } = session.terminal;
  if (session.connectionOptions.context !== undefined) {
    return;
  }
  const set = ["QUOIN_ENDPOINTS", "QUOIN_ENDPOINTS_FILE"].find((variable) => (environment[variable] ?? "") !== "");
  const other = environment.QUOIN_CONTEXT ?? "";
  if (set !== undefined) {
    session.warn(`commands use ${set} and not the context ${name}, because it is set`);
  } else if (other !== "" && other !== name) {
    session.warn(`commands use the context ${other}, because QUOIN_CONTEXT is set`);
  }
}

/** The options as fields of a context; files by their absolute paths. */
function fieldsToSet(
  { endpoints, tokenFile, apiKeyFile, ca, cert, key }: ConnectionOptions,
  { adminEndpoints, adminTokenFile, tls }: OptionsOf<typeof SET_OPTIONS>,
  workingDirectory: string,
): ReadonlyMap<string, unknown> {
  const absolute = (file: string | undefined) =>
    file === undefined ? undefined : path.resolve(workingDirectory, file);
  assertOneSecret({ tokenFile, apiKeyFile });
  assertKeyPair({ cert, key });
  const given = new Map<string, unknown>([
    ["endpoints", endpoints],
    ["token_file", absolute(tokenFile)],
    ["api_key_file", absolute(apiKeyFile)],
    ["ca", absolute(ca)],
    ["cert", absolute(cert)],
    ["key", absolute(key)],
    ["admin_endpoints", adminEndpoints],
    ["admin_token_file", absolute(adminTokenFile)],
    ["tls", tls],
  ]);
  return new Map([...given].filter(([, value]) => value !== undefined));
}

/** A name that can be typed, and that is no option. */
function assertName(name: string): void {
  if (!/^[^\s\p{Cc}-]\S*$/u.test(name)) {
    throw new UsageError(`a context has a name without spaces that does not begin with -, not ${JSON.stringify(name)}`);
  }
}

/** A context without its secrets. */
interface DescribedContext {
  readonly name: string;
  readonly endpoints: readonly string[];
  readonly tls: boolean;
  /** The field that has them; null = none. */
  readonly credentials: string | null;
  readonly email: string | null;
}

function describe(configuration: Configuration, name: string): DescribedContext {
  const fields: FieldReader = contextFields(configuration, name);
  const has = (field: string) => fields.text(field) !== undefined;
  return {
    name,
    endpoints: fields.texts("endpoints") ?? [],
    tls: fields.flag("tls") || has("ca") || has("cert"),
    credentials: ["token", "api_key", "token_file", "api_key_file"].find(has) ?? null,
    email: fields.text("email") ?? null,
  };
}
