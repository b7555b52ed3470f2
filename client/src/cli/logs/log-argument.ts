/** Event logs on the command line: by id or by name. */

import type { Client, LogInfo } from "../../index.ts";
import { isUuid, type ObjectKind, onlyOne } from "../arguments/index.ts";
import { itemsOf } from "../session/index.ts";

const LOGS: ObjectKind<LogInfo> = {
  title: "event log",
  notFoundReason: "LOG_NOT_FOUND",
  describe: ({ namespace, name }) => `${namespace}/${name}`,
};

/**
 * The id of a log that is given by its id, as NAMESPACE/NAME, or as NAME if only one visible namespace has that name.
 * The text is split at the first slash: a namespace has none, and a name may have more.
 *
 * @throws NotFoundError LOG_NOT_FOUND if no log has this name; UsageError if several have it.
 */
export async function findLogId(client: Client, text: string): Promise<string> {
  if (isUuid(text)) {
    return text;
  }
  const slash = text.indexOf("/");
  const found =
    slash < 0
      ? await itemsOf(client.logs.pages({ name: text }), (page) => page)
      : await client.logs.find(text.slice(slash + 1), { namespace: text.slice(0, slash) });
  return onlyOne([found ?? []].flat(), text, LOGS).logId;
}
