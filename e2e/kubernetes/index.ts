/** What whoever runs the scenarios does at their end. */

export { clearStage } from "./scene.ts";
