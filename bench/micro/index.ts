export { FiguresError } from "./figures.ts";
export { type MicroOptions, microCommand } from "./options.ts";
export { runMicro } from "./run.ts";
