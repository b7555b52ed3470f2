/**
 * `quoinctl kv delete --prefix`: all keys with a prefix. They are one transaction if they fit into one, else a few, page
 * by page: then other clients see the middle of it.
 */

import type { BatchPart, Guard } from "../../index.ts";
import { parsePrefixArgument } from "../arguments/index.ts";
import { hasReason, InterruptedError, UsageError } from "../errors/index.ts";
import { withProgressLine } from "../output/index.ts";
import { PAGE_SIZE_MAX, type Session } from "../session/index.ts";
import { interruptible } from "../terminal/index.ts";
import { amountOf, amountThatIs } from "../text/index.ts";

/** Deletes the keys, and prints how many there were. */
export async function deleteAll(session: Session, target: string, guard: Guard | undefined): Promise<void> {
  const { namespace, prefix } = parsePrefixArgument(target);
  if (prefix === "" && !target.endsWith("/*")) {
    throw new UsageError(`to remove all keys of ${namespace}, write '${namespace}/*'`);
  }
  let deleted = 0;
  try {
    await interruptible(session.terminal, (signal) =>
      withProgressLine(session, (line) =>
        session.withClient(async (client) => {
          const whole = client.transaction(namespace).then({ deletePrefix: { prefix } });
          try {
            deleted = (await whole.commit({ guard })).results[0].deletedKeys;
            return;
          } catch (error) {
            if (!hasReason(error, "TOO_LARGE")) {
              throw error;
            }
          }
          const onPart = ({ deletedKeys }: BatchPart) => {
            deleted += deletedKeys;
            line.showOften(() => `${amountOf(deleted, "key")} deleted`);
          };
          const pages = client.keyValue.pages(namespace, { prefix, keysOnly: true, pageSize: PAGE_SIZE_MAX, signal });
          for await (const { items } of pages) {
            // What is sent is finished, and nothing more is sent.
            signal.throwIfAborted();
            await client.batch(
              namespace,
              items.map(({ key }) => ({ delete: { key } })),
              { guard, onPart },
            );
          }
        }),
      ),
    );
  } catch (error) {
    if (deleted > 0 || error instanceof InterruptedError) {
      session.warn(`${amountThatIs(deleted, "key")} deleted${deleted === 0 ? "" : ", the others are not"}`);
    }
    throw error;
  }
  await session.print({
    document: { namespace, prefix, deleted },
    shown: { columns: ["DELETED"], rows: [[deleted]] },
  });
}
