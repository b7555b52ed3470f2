/** Starts the command line of this process: the entry of the bundled program. */

import { main } from "../src/cli/index.ts";

await main();
