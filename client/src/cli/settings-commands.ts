/** `quoinctl settings …`: settings of the whole cluster. */

import { type Command, InvalidArgumentError, Option } from "commander";
import { parseCount } from "./count.ts";
import type { Session } from "./session.ts";

/** Says that a setting is to have its default again. */
const byDefault = "default";

interface PutOptions {
  readonly ifSettingsRevision?: number;
}

/** Adds the commands to the program. */
export function addSettingsCommands(program: Command, session: Session): void {
  program
    .command("settings")
    .description("change settings of the cluster (needs admin)")
    .command("put")
    .argument("<NAME=VALUE...>", "such as token.lifetime_secs=600, or token.lifetime_secs=default", collectSetting)
    .description(
      "change settings, all that are named or none; when a name is unknown, the refusal lists those that there are",
    )
    .addOption(
      new Option("--if-settings-revision <N>", "only if the settings still have this revision").argParser(parseCount),
    )
    .action(async (values: ReadonlyMap<string, number | null>, { ifSettingsRevision }: PutOptions) => {
      const revision = await session.withAdmin((admin) => admin.putSettings(values, { ifSettingsRevision }));
      session.print({
        document: { settings_revision: revision },
        shown: { columns: ["SETTINGS REVISION"], rows: [[String(revision)]] },
      });
    });
}

/** @throws InvalidArgumentError of commander, for what is not NAME=VALUE, and a name that is given twice. */
function collectSetting(text: string, given: ReadonlyMap<string, number | null> | undefined) {
  const split = text.indexOf("=");
  const name = text.slice(0, split);
  if (split < 1) throw new InvalidArgumentError("Give NAME=VALUE.");
  if (given?.has(name)) throw new InvalidArgumentError("Give each setting once.");
  const value = text.slice(split + 1);
  return new Map([...(given ?? []), [name, value === byDefault ? null : parseCount(value)] as const]);
}
