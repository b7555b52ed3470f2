/** Names for the completion of a command line: from the cluster, and of contexts. */

import type { Client, LockName } from "../../index.ts";
import { readConfiguration } from "../connection/index.ts";
import type { Session } from "../session/index.ts";
import type { Candidate, ValuePlace } from "./completion.ts";

/** More names than a person reads. */
const NAMES_MAX = 1_000;

type List = (client: Client, place: ValuePlace) => Promise<readonly Candidate[]>;

/** The names in a cluster, by the form of the value in the help. */
const LISTS: ReadonlyMap<string, List> = new Map([
  ["NAMESPACE", listNamespaces],
  ["NAMESPACE/KEY", inNamespace(listKeys)],
  ["NAMESPACE/NAME", inNamespace(listLocks)],
  ["NAMESPACE/REGION", inNamespace(listRegions)],
  ["NAMESPACE/SESSION", inNamespace(listSessions)],
  ["NAMESPACE[/PREFIX]", inNamespace(listKeys)],
  ["NAMESPACE[/KEY]", inNamespace(listKeys)],
  ["NAMESPACE[/LOCK]", inNamespace(listLocks)],
  ["NAMESPACE[/LOCK-PREFIX]", inNamespace(listLocks)],
  ["LOG", listLogs],
  ["MEMBER", listMembers],
  ["MEMBER...", listMembers],
  ["USER", listUsers],
  ["API-KEY", listApiKeys],
]);

/** The names for a value; undefined = there is no list of such names. */
export function listNames(session: Session, place: ValuePlace): Promise<readonly Candidate[]> | undefined {
  if (place.form === "CONTEXT") {
    return listContexts(session);
  }
  if (place.form === "NAME=VALUE") {
    return listSettings(session);
  }
  const list = LISTS.get(place.form);
  return list === undefined ? undefined : session.withClient((client) => list(client, place));
}

async function listContexts({ terminal }: Session): Promise<readonly Candidate[]> {
  const { contexts } = await readConfiguration(terminal);
  return [...contexts.keys()].map((name) => ({ value: String(name) }));
}

/** With the equals sign, because a value follows. */
async function listSettings(session: Session): Promise<readonly Candidate[]> {
  const { settings } = await session.withAdmin((admin) => admin.settings());
  return settings.map(({ name, value }) => ({ value: `${name}=`, description: value }));
}

/** Lists the namespaces first, each with the slash that follows it, and then the names in one of them. */
function inNamespace(
  list: (client: Client, namespace: string, prefix: string, place: ValuePlace) => Promise<readonly Candidate[]>,
): List {
  return async (client, place) => {
    const slash = place.typed.indexOf("/");
    if (slash < 0) {
      const namespaces = await listNamespaces(client, place);
      return namespaces.map(({ value }) => ({ value: `${value}/` }));
    }
    const namespace = place.typed.slice(0, slash);
    const names = await list(client, namespace, place.typed.slice(slash + 1), place);
    return names.map((name) => ({ ...name, value: `${namespace}/${name.value}` }));
  };
}

async function listNamespaces({ keyValue }: Client, { typed: prefix }: ValuePlace): Promise<readonly Candidate[]> {
  const { namespaces } = await keyValue.listNamespaces({ prefix, namesOnly: true, pageSize: NAMES_MAX });
  return namespaces.map(({ name }) => ({ value: name }));
}

/** Keys level by level, like folders: a key, or the beginning of several up to the next slash. */
async function listKeys(client: Client, namespace: string, prefix: string): Promise<readonly Candidate[]> {
  const page = await firstOf(client.keyValue.pages(namespace, { prefix, keysOnly: true, pageSize: NAMES_MAX }));
  const values = page?.items.map(({ key }) => {
    const next = key.indexOf("/", prefix.length);
    return next < 0 ? key : key.slice(0, next + 1);
  });
  return [...new Set(values)].map((value) => ({ value }));
}

/** The locks of the kind that the command is for; of all kinds for a watch. */
async function listLocks(
  client: Client,
  namespace: string,
  namePrefix: string,
  { path }: ValuePlace,
): Promise<readonly Candidate[]> {
  const { locks } = await client.locks.listNames(namespace, { namePrefix, pageSize: NAMES_MAX });
  const isFor = ({ rw, permits }: LockName) =>
    path.startsWith("watch ") || (path.startsWith("rwlock ") === rw && path.startsWith("semaphore ") === permits > 0);
  return [...new Set(locks.filter(isFor).map(({ name }) => name))].map((value) => ({ value }));
}

async function listRegions(client: Client, namespace: string): Promise<readonly Candidate[]> {
  const page = await firstOf(client.memory.pages(namespace, { pageSize: NAMES_MAX }));
  return page?.regions.map(({ regionId, label }) => ({ value: regionId, description: label })) ?? [];
}

async function listSessions(client: Client, namespace: string): Promise<readonly Candidate[]> {
  const { items } = await client.sessions.list(namespace, { pageSize: NAMES_MAX });
  return items.map(({ sessionId, owner }) => ({ value: String(sessionId), description: owner }));
}

async function listLogs(client: Client): Promise<readonly Candidate[]> {
  const logs = (await firstOf(client.logs.pages({ pageSize: NAMES_MAX }))) ?? [];
  const names = logs.map(({ name }) => name);
  const only = names.filter((name) => names.indexOf(name) === names.lastIndexOf(name));
  return [...only, ...logs.map(({ namespace, name }) => `${namespace}/${name}`)].map((value) => ({ value }));
}

async function listMembers(client: Client): Promise<readonly Candidate[]> {
  const { members } = await client.cluster.getCluster();
  return members.map(({ name, leader }) => ({ value: name, description: leader ? "leader" : undefined }));
}

async function listUsers(client: Client): Promise<readonly Candidate[]> {
  const users = (await firstOf(client.users.pages({ pageSize: NAMES_MAX }))) ?? [];
  return users.map(({ email, role }) => ({ value: email, description: role }));
}

async function listApiKeys(client: Client): Promise<readonly Candidate[]> {
  const keys = (await firstOf(client.keys.pages({ pageSize: NAMES_MAX }))) ?? [];
  return keys.map(({ name, keyPrefix }) => ({ value: name, description: keyPrefix }));
}

/** The first page; undefined = there is none. */
async function firstOf<Page>(pages: AsyncIterable<Page>): Promise<Page | undefined> {
  for await (const page of pages) {
    return page;
  }
  return undefined;
}
