/** Changes of contexts in the document of the configuration file. */

import { type Document, isCollection } from "yaml";

/** The fields that `login` writes. */
const LOGIN_FIELDS = ["token", "api_key", "api_key_id", "email", "expires_at"];

/** The fields that a new value of another field replaces: a context has one kind of credentials. */
const REPLACED_FIELDS: ReadonlyMap<string, readonly string[]> = new Map([
  ["token_file", ["api_key_file", ...LOGIN_FIELDS]],
  ["api_key_file", ["token_file", ...LOGIN_FIELDS]],
  ["token", ["token_file", "api_key_file", "api_key", "api_key_id"]],
  ["api_key", ["token_file", "api_key_file", "token"]],
  ["admin_token_file", ["admin_token"]],
]);

/** The files of a connection that is encrypted. */
const TLS_FIELDS = ["ca", "cert", "key"];

/** Writes fields into a context, creates it if necessary, and removes the fields that they replace. */
export function setFields(document: Document, name: string, fields: ReadonlyMap<string, unknown>): void {
  for (const field of fields.keys()) {
    removeFields(document, name, REPLACED_FIELDS.get(field) ?? []);
  }
  if (fields.get("tls") === false) {
    removeFields(document, name, TLS_FIELDS);
  }
  for (const [field, value] of fields) {
    document.setIn(["contexts", name, field], document.createNode(value));
  }
}

/** Removes fields of a context that exist. */
function removeFields(document: Document, name: string, fields: readonly string[]): void {
  for (const field of fields) {
    removeIn(document, ["contexts", name, field]);
  }
}

/** Removes what `login` wrote. */
export function removeLogin(document: Document, name: string): void {
  removeFields(document, name, LOGIN_FIELDS);
}

/** Makes a context the current one, if there is none. */
export function setFirstContext(document: Document, name: string): void {
  if (document.get("current") === undefined || document.get("current") === null) {
    document.setIn(["current"], name);
  }
}

/** Removes a context; then there is no current one if it was that. */
export function removeContext(document: Document, name: string): void {
  removeIn(document, ["contexts", name]);
  const contexts = document.get("contexts");
  // An empty collection would be written in braces, and so would all later contexts.
  if (isCollection(contexts) && contexts.items.length === 0) {
    removeIn(document, ["contexts"]);
  }
  // Not removed: the comment before it may be that of the whole file.
  if (document.get("current") === name) {
    document.setIn(["current"], null);
  }
}

function removeIn(document: Document, at: readonly string[]): void {
  if (document.hasIn(at)) {
    document.deleteIn(at);
  }
}
