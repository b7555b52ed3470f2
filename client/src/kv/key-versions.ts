/** The versions of a key, from the change history of the service. */

import {
  enumName,
  KeyEvent_Type,
  type KeyVersion as KeyVersionMessage,
  type ListKeyVersionsResponse,
  serviceDefinitions,
} from "@quoin/proto";
import {
  consistencyField,
  execute,
  type OperationContext,
  type Plain,
  type ReadOptions,
  readRules,
  toPlain,
  unaryMethod,
} from "../calls/index.ts";
import { flag, int32Field, optionsCheck, text, textField, whole32 } from "../options/index.ts";

const listKeyVersionsMethod = unaryMethod(serviceDefinitions.KeyValueService.listKeyVersions);

/** A key as one change left it. */
export type KeyVersion = Omit<Plain<KeyVersionMessage>, "type"> & {
  /** The kind of the change; a decimal number if this client is too old to know it. */
  readonly type: "PUT" | "DELETE" | "EXPIRE" | (string & {});
};

/** One page of versions, the newest first. It may be empty and still have a next page. */
export type KeyVersionPage = Omit<Plain<ListKeyVersionsResponse>, "versions"> & {
  readonly versions: readonly KeyVersion[];
};

/** Options of one page of versions. */
export interface KeyVersionsOptions extends ReadOptions {
  /** Versions per page, 1 to 1,000. Default 100. */
  readonly pageSize?: number | undefined;
  /** `nextPageToken` of the page before; the first page by default. */
  readonly pageToken?: string | undefined;
  /** Whether to leave out the values. Default false. */
  readonly keysOnly?: boolean | undefined;
}

const checkVersions = optionsCheck<KeyVersionsOptions>({
  ...readRules,
  pageSize: whole32,
  pageToken: text,
  keysOnly: flag,
});

/** Reads one page of the versions of a key. Raises a QuoinError. */
export async function fetchKeyVersions(
  context: OperationContext,
  namespace: string,
  key: string,
  options: KeyVersionsOptions,
): Promise<KeyVersionPage> {
  checkVersions(options, "keyValue.versions");
  const request = {
    namespace: textField("namespace", namespace),
    key: textField("key", key),
    pageSize: int32Field("pageSize", options.pageSize ?? 0),
    pageToken: textField("pageToken", options.pageToken ?? ""),
    keysOnly: options.keysOnly ?? false,
    consistency: consistencyField(options.consistency),
  };
  const { message } = await execute(context, listKeyVersionsMethod, request, options);
  const versions = message.versions.map((version) => ({
    ...toPlain(version),
    type: enumName(KeyEvent_Type, version.type),
  }));
  return { ...toPlain(message), versions };
}
