/** Where the built files of the web console are. `scripts/build.ts` writes them; a member serves them at /console. */

/** A directory with `index.html` and `assets/`; it does not exist before the first build. */
export const CONSOLE_DIRECTORY: URL = new URL("./built/", import.meta.url);
