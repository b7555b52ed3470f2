/**
 * The command line `quoinctl`.
 *
 * Each group of commands has a folder, such as `kv/`, `locks/` or `backup/`. A command is a value of `session/`: its
 * usage, its options, and what it runs. The folders of commands do not import each other. They use `running/` for the
 * programs of others, `connection/`, `arguments/`, `output/`, `prompts/`, `files/` and `terminal/`, and all of these use
 * `errors/` and `text/`.
 */

export { main } from "./main.ts";
export { run } from "./program.ts";
