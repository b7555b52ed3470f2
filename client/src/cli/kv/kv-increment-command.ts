/** `quoinctl kv increment` */

import { GUARD_OPTIONS, guardOf, option, parseKeyArgument } from "../arguments/index.ts";
import { command } from "../session/index.ts";
import { parseDurationSeconds, parseSummand } from "../text/index.ts";

const AFTER_HELP = `
The value of the key is a decimal number of 64 bits; a key that does not exist counts as 0. Examples:

  quoinctl kv increment default/visits
  quoinctl kv increment default/stock -- -3`;

/** The command. */
export const INCREMENT = command("increment <NAMESPACE/KEY> [DELTA]", {
  description: "add to the number in a key, in one step, and print the sum",
  arguments: { DELTA: { description: "what is added; 1 by default", parse: parseSummand } },
  options: {
    ttl: option("<DURATION>", "if this creates the key, let it expire after this time", parseDurationSeconds),
    ...GUARD_OPTIONS,
  },
  help: AFTER_HELP,
  run: async (session, target, delta = 1, options) => {
    const { namespace, key } = parseKeyArgument(target);
    const increment = { key, delta, ttlSeconds: options.ttl };
    const { results, revision } = await session.withClient((client) =>
      client
        .transaction(namespace)
        .then({ increment })
        .commit({ guard: guardOf(options) }),
    );
    const [{ value, created }] = results;
    // As text: it may be more than a number of JSON holds exactly.
    const sum = String(value);
    await session.print({
      document: { namespace, key, value: sum, created, revision },
      shown: { columns: ["KEY", "VALUE", "CREATED"], rows: [[target, sum, created]] },
    });
  },
});
