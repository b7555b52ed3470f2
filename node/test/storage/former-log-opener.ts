/**
 * Opens the directory of a golden member, closes it and prints `opened`. A program, started by former-log.spec.ts.
 *
 *     node former-log-opener.ts <directory>
 */

import { openMember } from "../golden/index.ts";

const data = await openMember(process.argv[2] ?? "");
await data.close();
process.stdout.write("opened\n");
