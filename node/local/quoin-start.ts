/** `quoin start`: the launcher of the package, in a process of its own, with the Node of members. */

import { runLauncher } from "./launcher.ts";

const quoin = process.env.npm_command === "exec" ? "npx quoin" : "quoin";
await runLauncher(process.argv.slice(2), { start: `${quoin} start`, quoinctl: `${quoin} ctl` });
