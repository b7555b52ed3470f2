/** `quoinctl settings …`: settings of the whole cluster. */

import { InvalidArgumentError } from "commander";
import { option } from "../arguments/index.ts";
import { command, commandGroup } from "../session/index.ts";
import { parseCount } from "../text/index.ts";

/** Resets a setting to its default. */
const BY_DEFAULT = "default";

const LIST = command("list", {
  description: "list all settings, with their values, defaults and bounds",
  run: async (session) => {
    const { settings: found, settingsRevision } = await session.withAdmin((admin) => admin.settings());
    await session.print({
      document: {
        settings: found.map(({ name, value, defaultValue, min, max }) => ({
          name,
          value: value || null,
          default: defaultValue || null,
          min,
          max,
        })),
        settings_revision: settingsRevision,
      },
      shown: {
        columns: ["SETTING", "VALUE", "DEFAULT", "MIN", "MAX"],
        rows: found.map(({ name, value, defaultValue, min, max }) => [
          ...[name, value || undefined, defaultValue || "by flags", min, max],
        ]),
      },
    });
    session.note(`settings revision ${settingsRevision}`);
  },
});

const PUT = command("put <NAME=VALUE...>", {
  description: "change all named settings or none",
  arguments: {
    "NAME=VALUE": {
      description: "such as token.lifetime_secs=600, or token.lifetime_secs=default",
      parse: collectSetting,
    },
  },
  options: {
    ifSettingsRevision: option("<N>", "only if the settings still have this revision", parseCount),
  },
  run: async (session, values, { ifSettingsRevision }) => {
    const revision = await session.withAdmin((admin) => admin.putSettings(values, { ifSettingsRevision }));
    await session.print({
      document: { settings_revision: revision },
      shown: { columns: ["SETTINGS REVISION"], rows: [[revision]] },
    });
  },
});

/** The commands of the group. */
export const SETTINGS_COMMANDS = commandGroup("", [LIST, PUT]);

/** @throws InvalidArgumentError of commander, if the text is not NAME=VALUE or the name was given before. */
function collectSetting(text: string, given: ReadonlyMap<string, number | null> | undefined) {
  const split = text.indexOf("=");
  const name = text.slice(0, split);
  if (split < 1) {
    throw new InvalidArgumentError("Give NAME=VALUE.");
  }
  if (given?.has(name)) {
    throw new InvalidArgumentError("Give each setting once.");
  }
  const value = text.slice(split + 1);
  return new Map([...(given ?? []), [name, value === BY_DEFAULT ? null : parseCount(value)] as const]);
}
