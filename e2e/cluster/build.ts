/**
 * `npm run e2e:build`: builds the programs of the cluster, and Helm, unless they are in the cache. `npm run e2e` does so
 * as well; built before, they take no processor from what runs beside it.
 */

import { buildBinaries } from "./binaries.ts";

await buildBinaries();
