/** Cleanup at the end of a run. */

export { removeScenes } from "./scene.ts";
