/** The root folder of the repository. */

import path from "node:path";

export const repositoryRoot: string = path.resolve(import.meta.dirname, "../..");
