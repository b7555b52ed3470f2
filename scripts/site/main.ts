/**
 * `npm run docs`: the manual as a site on this machine, which follows changes of the documents, until Ctrl-C.
 * `npm run docs -- build [DIRECTORY]` writes the site as static files, by default into site/. Exits with 2 on wrong use.
 */

import path from "node:path";
import { build, createServer } from "vitepress";

const PORT = 8080;

const [command, directory = "site", ...rest] = process.argv.slice(2);
if (command === undefined) {
  const server = await createServer(import.meta.dirname, { port: PORT });
  await server.listen();
  server.printUrls();
} else if (command === "build" && rest.length === 0) {
  await build(import.meta.dirname, { outDir: path.resolve(directory) });
} else {
  console.error("usage: npm run docs [-- build [DIRECTORY]]");
  process.exitCode = 2;
}
