/** `npm start`: a cluster on this machine, until Ctrl-C; or one of its members, restarted. */

import { runLauncher } from "./launcher.ts";

await runLauncher(process.argv.slice(2), { start: "npm start --", quoinctl: "npx quoinctl" });
